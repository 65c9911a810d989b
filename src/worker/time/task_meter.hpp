// The meter of a worker: it counts the use of the tasks that run there, where the worker's policy wants that
// (policy_wants::usage, elapsed, running). A worker without a meter, or whose switches nobody watches, does nothing of
// this: usage.md.
#pragma once

#include <atomic>

#include <heddle/policy.hpp>

#include "fiber/thread.hpp"
#include "platform/platform.hpp"
#include "worker/time/accounts.hpp"

namespace heddle::worker {

class worker;
using fiber::thread;

// The time between two values of platform::cycles, in ns.
inline std::uint64_t nanoseconds_between(std::uint64_t first, std::uint64_t last) noexcept {
  return last > first ? (last - first) * 1000 / platform::cycles_per_microsecond() : 0;
}

// All of it is the worker's own, except for the word that shown() reads.
class task_meter {
 public:
  task_meter(const policy::policy_wants& wants, account_store& store) noexcept
      : wants_(wants), reads_(wants.usage && wants.figures.at_switches()), slots_(store) {}

  // The worker's kernel thread goes from one thread to the other. Null stands for the run loop, or for a kernel thread
  // on which no thread of the worker's is. Called by the kernel thread on which `from` has run, and `to` will.
  void leave(worker& w, thread& from) noexcept;
  void enter(worker& w, thread& to) noexcept;
  void change(worker& w, thread* from, thread* to) noexcept;
  // `t` will not run again. Called after its last leave.
  void forget(thread& t) noexcept;
  // `t`, which runs here and has a tag, has ended as a task; it may go on with jobs. Tells the policy.
  void tell(worker& w, thread& t) noexcept;

  void fork_began(thread& owner, const detail::job& of) noexcept;
  // The time since then, in ns; 0 if it was not counted, for lack of memory.
  std::uint64_t fork_ended(thread& owner, const detail::job& of) noexcept;

  // Any kernel thread. A hint.
  const policy::task* shown() const noexcept { return shown_.load(std::memory_order_relaxed); }

 private:
  void show(const thread* t) noexcept {
    // relaxed: an identity, of which nothing is read
    if (wants_.running) shown_.store(t == nullptr ? nullptr : &t->scheduling, std::memory_order_relaxed);
  }
  bool wants_account(const thread& t) const noexcept {
    return wants_.usage && (t.metered.kept != nullptr || t.scheduling.tag != nullptr);
  }
  void charge(account& to, const platform::usage_reading& now) noexcept;
  void begin(thread& t) noexcept;
  platform::usage_reading read(const worker& w) const noexcept;

  const policy::policy_wants& wants_;
  const bool reads_;
  accounts_at_hand slots_;
  platform::usage_reading mark_;  // when the running thread's time slice began here, or was charged last
  std::atomic<const policy::task*> shown_{nullptr};
};

}  // namespace heddle::worker

// The effect of levels beside the normal one in a runtime: whether there are any, which worker makes way at once for a
// thread that is ready, and where a thread goes whose level is raised (priorities.md, inheritance.md). Owns no list of
// threads (those are `priorities`), only the marks by which workers learn that they have to look. Any kernel thread may
// call, with preemption off, also in a signal handler, except for `use`. Promise: a thread whose level was raised is
// found at its new level, wherever it stands.
#pragma once

#include <atomic>

#include <heddle/priority.hpp>

#include "fiber/thread.hpp"
#include "platform/platform.hpp"
#include "worker/order/capacity.hpp"
#include "worker/order/priorities.hpp"
#include "worker/searching/inbox.hpp"
#include "worker/searching/sleepers.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

class precedence {
 public:
  // `aging`: see longest_wait; it counts time slices of length `turn`.
  precedence(const worker_list& workers, sleepers& all, inbox& incoming, priorities& lists, capacity& active,
             unsigned aging, platform::nanoseconds slice) noexcept
      : workers_(workers),
        sleepers_(all),
        inbox_(incoming),
        lists_(lists),
        capacity_(active),
        aging_(aging),
        slice_(slice) {}

  // A thread of this level is about to be made. Must not be called in a signal handler. Throws std::invalid_argument.
  void use(priority level);
  // The same for a thread that is pinned to that worker.
  void expect_pinned(unsigned rank);
  // True if a thread of a level beside the normal one was ever made. Code that gets to know such a thread sees it true.
  bool is_used() const noexcept { return used_.load(std::memory_order_relaxed); }

  // True if there was ever a thread with a level beside the normal one, or a pinned one. Code that wakes a thread may
  // then not be allowed to go to it straight. Seen as is_used.
  bool decides() const noexcept { return decides_.load(std::memory_order_relaxed); }

  // How long a thread is ready before it has a time slice whatever is above it, in platform::cycles. 0 means for ever.
  std::uint64_t longest_wait() const noexcept { return aging_ * (slice_ * platform::cycles_per_microsecond() / 1000); }

  // A thread of that level is ready, and no worker is idle: the worker that runs a preemptive thread of the lowest
  // level below gets a tick at once, not at its timer's time.
  void evict_for(int level) noexcept;
  // The same for that worker, whose own carrier is to run the ready thread.
  void evict_from(worker& w, int level) noexcept;
  // Returns the worker that runs the preemptive thread of the lowest level below `level`, or null. A hint.
  [[nodiscard]] worker* lowest_below(int level) const noexcept;
  // Returns true if there are workers beside `maker`, and a thread below normal is ready or runs on one of them. A
  // hint.
  [[nodiscard]] bool any_low_beside(const worker& maker) const noexcept;
  // Returns true if something stands in the inbox or in a list that a thread of that level makes way for. A hint, or
  // exact after a fence for what was there before it.
  [[nodiscard]] bool any_above(int level) const noexcept;

  // Inheritance has raised a thread's level, from `before`: sees to it that the thread is found at its new level,
  // wherever it stands. Under the lock of inheritance.
  void level_was_raised(fiber::thread& t, int before) noexcept;
  // How often a thread was raised that may stand among the ready threads of a worker.
  unsigned raised() const noexcept { return raised_.load(); }
  // A thread is in the inbox that was raised on the way there: the workers have looked for it before it was there.
  void look_again() noexcept { raised_.fetch_add(1); }

 private:
  const worker_list& workers_;
  sleepers& sleepers_;
  inbox& inbox_;
  priorities& lists_;
  capacity& capacity_;
  const unsigned aging_;
  const platform::nanoseconds slice_;
  std::atomic<unsigned> raised_{0};   // see raised()
  std::atomic<bool> used_{false};     // set once
  std::atomic<bool> decides_{false};  // set once
};

}  // namespace heddle::worker

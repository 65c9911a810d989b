// The border between a preemptive thread's own code and the runtime, [section:1] to [section:9] of preemption.md.
// Inside a section no tick moves the thread.
#pragma once

#include <atomic>
#include <utility>

#include "base/audit.hpp"
#include "fiber/preemptible.hpp"
#include "fiber/thread.hpp"
#include "worker/caller.hpp"

namespace heddle::worker {

struct carrier;
class runtime;

// True if some runtime of the process has, or had, preemptive threads. A thread that knows of the acts of a preemptive
// thread sees it true.
inline std::atomic<bool> preemption_is_used{false};  // set once
inline bool has_preemption() noexcept { return preemption_is_used.load(std::memory_order_relaxed); }

// [section:1] to [section:3]: the calling thread, whose own code runs, enters the runtime. No tick moves it from here
// on, and the current queue is its worker.
void enter_runtime(fiber::preemptible& caller) noexcept;
// [section:4] to [section:9]: `self`, which is preemptive, goes on with its own code, on the worker that it is on at
// this moment. If a tick came meanwhile, its time slice ends first.
void leave_runtime(fiber::preemptible& self) noexcept;

// The guard around whatever a function that user code may call does with workers, queues, stacks and guards. It costs a
// thread that is not preemptive two tests. Sections nest: the inner one finds a worker's queue and does nothing.
class section {
 public:
  section() noexcept {
    const caller who = caller::now();
    if (!who.is_user_code()) [[likely]]
      return;
    caller_ = &who.preemptive();
    enter_runtime(*caller_);
  }
  ~section() {
    if (caller_ == nullptr) [[likely]]
      return;
    leave_runtime(*caller_);
  }
  section(const section&) = delete;
  section& operator=(const section&) = delete;

 private:
  fiber::preemptible* caller_{nullptr};
};

// The same for functions that begin by asking for their caller:
// if (who.is_user_code()) return in_section([&] { the call again }).
template <class F>
[[gnu::noinline]] auto in_section(F f) {
  const section here;
  return f();
}

// The beginning and the end of a preemptive thread's own code.
void begin_preemptive(fiber::preemptible& self) noexcept;
void end_preemptive(fiber::preemptible& self) noexcept;

// Enclose the user code that a thread begins with.
[[gnu::always_inline]] inline void begin_user_code(fiber::thread& self) noexcept {
  if (self.preemptive != nullptr) [[unlikely]]
    return begin_preemptive(*self.preemptive);
  base::allow_malloc();
}
[[gnu::always_inline]] inline void end_user_code(fiber::thread& self) noexcept {
  if (self.preemptive != nullptr) [[unlikely]]
    return end_preemptive(*self.preemptive);
  base::forbid_malloc("at the end of a thread");
}

// In a child of fork(): the blocks of own thread-local storage that the parent made stay the parent's.
void forget_blocks_in_children() noexcept;

// Enclose a blocking call of a thread, which has no worker then.
void begin_blocking_on_block(fiber::preemptible& self) noexcept;
void end_blocking_on_block(fiber::preemptible& self, const carrier& on) noexcept;

// tls::caller, [own_storage:9]. The thread that `caller`, in a section, waits for has had the caller's storage, and has
// ended.
void take_storage_back(fiber::preemptible& caller) noexcept;
// The calling foreign kernel thread calls wait(data) while it stands on a block of storage that is not its own. Another
// thread may have its own storage as soon as wait is called, and no longer than until wait has returned. `lent` names
// the caller's own storage to that thread. The block comes from `home`.
void wait_on_other_storage(runtime& home, platform::own_tls& lent, void (*wait)(void*) noexcept, void* data) noexcept;

// A thread that has ended goes on with jobs, which are preempted as the runtime says.
void give_usual_kind(fiber::thread& self, fiber::preemptible& was) noexcept;

}  // namespace heddle::worker

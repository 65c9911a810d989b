// What a thread that can be preempted has besides its control block. Lies on its stack, directly below the block.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>

#include <heddle/detail/fork_queue.hpp>
#include <heddle/preemption.hpp>

#include "fiber/thread.hpp"
#include "platform/platform.hpp"

namespace heddle::worker {
class worker;
struct carrier;
}  // namespace heddle::worker

namespace heddle::fiber {

// How a thread is preempted. Part of what a thread, a group or a runtime is made with.
struct kind {
  preemption technique{preemption::none};
  tls storage{tls::carrier};
  bool preemptive() const noexcept { return technique != preemption::none; }
};

// The base is the queue that the thread's own code sees (fork_queue::stands_for): the thread-local
// pointer to the current queue holds it while that code runs, and the worker while the runtime's
// does. `off` covers the instructions in between. All fields are touched by whoever owns the
// thread; `off` and `pending` also by the signal handler on the kernel thread that runs it.
struct preemptible : detail::fork_queue {
  explicit preemptible(thread& t, kind how) noexcept : how(how) {
    base = slots + 1;
    end = slots;                                         // no quiet pushes
    bottom.store(slots + 1, std::memory_order_relaxed);  // nobody else knows it yet
    running = &t;
    watches_groups = true;  // groups ask the worker
    preempts = true;
    picks_specially.store(true, std::memory_order_relaxed);  // nobody else knows it yet
    stands_for = &t;
  }
  thread& self() noexcept { return *static_cast<thread*>(stands_for); }

  kind how;
  // relaxed throughout: between a thread and the signal handler that interrupts it, ordered by compiler fences
  std::atomic<bool> off{true};       // the runtime's code runs, or is about to
  std::atomic<bool> pending{false};  // a tick came meanwhile
  // a signal-yield tick has suspended it: its return from the signal's handler is to come
  bool in_handler{false};
  std::uint8_t cut_calls{0};                  // ticks in a row that have found it in a system call and cut that short
  platform::nanoseconds turn_lasts_until{0};  // no timer's tick ends its turn before that; 0: any does
  // it was found with an alternate stack or blocked signals that are not its kernel thread's
  bool own_signals{false};
  worker::worker* on{nullptr};  // the worker, while `off` is false
  // preempted by KLT-switching: asleep in the signal handler with this thread's stack
  worker::carrier* bound{nullptr};
  platform::own_tls* block{nullptr};  // its own thread-local storage; taken when it starts
  std::uint64_t waits_since{0};       // platform::ticks when a tick last ended its turn
  detail::slot slots[3]{};            // a pushed entry on its way to the worker's queue
};

// Makes room below the control block of a thread that is new. Returns what the stack begins below.
inline void* make_preemptible(thread& t, kind how) noexcept {
  const auto address =
      (reinterpret_cast<std::uintptr_t>(&t) - sizeof(preemptible)) & ~(std::uintptr_t{alignof(preemptible)} - 1);
  t.preemptive = ::new (reinterpret_cast<void*>(address)) preemptible(t, how);
  return t.preemptive;
}

}  // namespace heddle::fiber

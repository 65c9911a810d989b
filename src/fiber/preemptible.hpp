// What a thread that can be preempted, or has thread-local storage of its own, has besides its control block. Lies on
// its stack, directly below the block.
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
  // Ticks end its turns.
  bool preemptive() const noexcept { return technique != preemption::none; }
  // There is a border between its own code and the runtime's (src/worker/preemption/preemption.md).
  bool bordered() const noexcept { return preemptive() || storage != tls::carrier; }
};

// The base class is the queue that the thread's own code sees (fork_queue::stands_for). The thread-local pointer to the
// current queue names it while that code runs, and names the worker while the runtime's code does; `off` is true during
// the latter and during the instructions in between (src/worker/preemption/preemption.md). All fields are touched by
// whoever owns the thread; `off` and `pending` also by the signal handler on the kernel thread that runs it.
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

  // off: the runtime's code runs, or is about to. pending: a tick came meanwhile. Both are accessed relaxed everywhere:
  // by a thread and the signal handler that interrupts it, ordered by compiler fences.
  std::atomic<bool> off{true};
  std::atomic<bool> pending{false};

  // A tick of signal-yield has suspended it inside the signal's handler, from which it has still to return.
  bool in_handler{false};
  // How many ticks in a row have found it in a system call and cut that short.
  std::uint8_t cut_calls{0};
  // No timer's tick ends its turn before that time. 0: any does.
  platform::nanoseconds turn_lasts_until{0};
  // It was found with an alternate stack or with blocked signals that are not its kernel thread's.
  bool own_signals{false};
  // For how many nanoseconds ticks have found it spinning since it last called the runtime, less the time in which they
  // found it computing ([turn:4]); 1: for one tick.
  std::uint32_t spun{0};

  // The worker that it runs on, while `off` is false.
  worker::worker* on{nullptr};
  // It was preempted by KLT-switching: the carrier that is asleep in the signal handler with this thread's stack.
  worker::carrier* bound{nullptr};
  // Its own thread-local storage, taken when it starts; or that of who waits for it (tls::caller).
  platform::own_tls* block{nullptr};
  // platform::cycles when a tick last ended its turn.
  std::uint64_t waits_since{0};
  // Where an entry that its code has pushed lies on the way to the worker's queue.
  detail::slot slots[3]{};
  // What platform::interrupted::state said at its last ticks, and which of these is the oldest.
  std::uint64_t states[4]{};
  std::uint8_t oldest_state{0};
};

// Makes room below the control block of a thread that is new. Returns what the stack begins below.
inline void* make_preemptible(thread& t, kind how) noexcept {
  const auto address =
      (reinterpret_cast<std::uintptr_t>(&t) - sizeof(preemptible)) & ~(std::uintptr_t{alignof(preemptible)} - 1);
  t.preemptive = ::new (reinterpret_cast<void*>(address)) preemptible(t, how);
  return t.preemptive;
}

}  // namespace heddle::fiber

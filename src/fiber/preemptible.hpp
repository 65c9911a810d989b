// The additional data of a thread that can be preempted or has thread-local storage of its own. They lie on its stack,
// directly below its control block.
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

// How a thread is preempted. It is one of the options of a thread, a group or a runtime.
struct kind {
  preemption technique{preemption::none};
  tls storage{tls::carrier};
  // Returns true if ticks end its time slices.
  bool preemptive() const noexcept { return technique != preemption::none; }
  // Returns true if there is a border between its own code and the runtime's (src/worker/preemption/preemption.md).
  bool bordered() const noexcept { return preemptive() || storage != tls::carrier; }
};

// The base class is the queue that the thread's own code sees (fork_queue::stands_for). While that code runs, the
// thread-local pointer to the current queue points to it; while the runtime's code runs, the pointer points to the
// worker. `off` is true in the latter case and during the instructions in between
// (src/worker/preemption/preemption.md). The thread's owner touches all fields. The signal handler on the kernel thread
// that runs it also touches `off` and `pending`.
struct preemptible : detail::fork_queue {
  explicit preemptible(thread& t, kind how) noexcept : how(how) {
    base = slots + 1;
    end = slots;                                         // no unannounced pushes
    bottom.store(slots + 1, std::memory_order_relaxed);  // relaxed: no other thread knows it yet
    running = &t;
    watches_groups = true;  // groups ask the worker
    preempts = true;
    picks_specially.store(special_threads, std::memory_order_relaxed);  // relaxed: no other thread knows it yet
    stands_for = &t;
  }
  thread& self() noexcept { return *static_cast<thread*>(stands_for); }

  kind how;

  // `off` means that the runtime's code runs, or is about to. `pending` means that a tick came meanwhile. Both are
  // accessed relaxed everywhere: by a thread and the signal handler that interrupts it, ordered by compiler fences.
  std::atomic<bool> off{true};
  std::atomic<bool> pending{false};

  // True if a tick of signal-yield has suspended the thread inside the signal's handler, from which it must still
  // return.
  bool in_handler{false};
  // The number of ticks in a row that have found the thread in a system call and cut the call short.
  std::uint8_t cut_calls{0};
  // No timer's tick ends the time slice before this time. 0 means that any tick does.
  platform::nanoseconds slice_lasts_until{0};
  // True if the thread was found with an alternate stack, or with blocked signals, that are not its kernel thread's.
  bool own_signals{false};
  // The nanoseconds for which ticks have found it spinning since it last called the runtime, less the time in which
  // they found it computing ([slice:4]). The value 1 stands for one tick.
  std::uint32_t spun{0};

  // While it is a member of a loop: where the loop counts those of its members whose time slices have ended ([range:9]
  // of src/loop/ranges.md). Written by its own code, read by its tick; so relaxed everywhere.
  std::atomic<std::atomic<unsigned>*> preempted_members{nullptr};

  // The worker that it runs on, while `off` is false.
  worker::worker* on{nullptr};
  // Not null if it was preempted by KLT-switching: the carrier that is asleep in the signal handler with this thread's
  // stack.
  worker::carrier* bound{nullptr};
  // Its own thread-local storage, taken when it starts, or the storage of the thread that waits for it (tls::caller).
  platform::own_tls* block{nullptr};
  // The value of platform::cycles when a tick last ended its time slice.
  std::uint64_t waits_since{0};
  // The place of an entry that its code has pushed, on the way to the worker's queue.
  detail::slot slots[3]{};
  // The values of platform::interrupted::state at its last ticks, and the index of the oldest.
  std::uint64_t states[4]{};
  std::uint8_t oldest_state{0};
};

// Makes room below the control block of a new thread. Returns the address below which the stack begins.
inline void* make_preemptible(thread& t, kind how) noexcept {
  const auto address =
      (reinterpret_cast<std::uintptr_t>(&t) - sizeof(preemptible)) & ~(std::uintptr_t{alignof(preemptible)} - 1);
  t.preemptive = ::new (reinterpret_cast<void*>(address)) preemptible(t, how);
  return t.preemptive;
}

}  // namespace heddle::fiber

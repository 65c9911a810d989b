// A carrier: the kernel thread that runs a worker at the moment. A worker changes carriers when its thread makes a
// blocking call.
#pragma once

#include <atomic>
#include <cstdint>

#include "fiber/sanitizer.hpp"
#include "platform/platform.hpp"

namespace heddle::worker {

class worker;
class runtime;

// What the C++ runtime keeps for each kernel thread of the exceptions being handled and thrown (Itanium C++ ABI, 2.2.2:
// __cxa_eh_globals). It belongs to the user-level thread: one that waits inside a handler takes it along.
struct exception_state {
  void* caught{nullptr};
  unsigned uncaught{0};
  bool any() const noexcept { return caught != nullptr || uncaught != 0; }
};

struct carrier {
  explicit carrier(runtime& owner) noexcept : home(owner) {}

  runtime& home;
  void* stack_pointer{nullptr};  // of its own stack, while it runs a user-level thread
  fiber::native_stack native;
  platform::kernel_thread kernel;
  exception_state* exceptions{nullptr};  // of this kernel thread; empty whenever a thread starts or goes on
  worker* assigned{nullptr};             // written before `signal` is raised
  std::atomic<std::uint32_t> signal{0};  // 1: a worker is assigned, 2: end; futex word of a spare carrier
  bool passing{false};                   // a spare beyond those that are kept: ends when nobody needs it for a while
  bool offers_itself{false};     // [preempt:6]: made for no certain worker, it joins the spares when it is ready to
  carrier* next_spare{nullptr};  // under the mutex of `carriers`, or of the worker in whose pool it is
  // The processing unit that it is bound to; -1: none; -2: not known yet. Written by itself, or by who is about to
  // raise `signal`.
  int bound_to{-2};
  void* thread_pointer{nullptr};   // of its own
  std::atomic<int> id{0};          // of its kernel thread, for ticks; 0: it has not begun
  platform::tick_timer timer;      // its own; ticks come to it
  platform::signal_state signals;  // its own
  // relaxed: its own, and of the signal handler that interrupts it
  enum class ticking : std::uint8_t { no, once, always };
  std::atomic<ticking> ticks{ticking::no};
  carrier* next_all{nullptr};  // under the mutex of `carriers`

  // To be called before the running thread is switched away from. Returns the exceptions that it is handling, which it
  // has to put into `exceptions` of the carrier on which it goes on.
  [[nodiscard]] exception_state leave_exceptions() noexcept {
    const exception_state mine = *exceptions;
    if (mine.any()) [[unlikely]]
      *exceptions = {};
    return mine;
  }
};

// What its kernel thread does, from its beginning to its end: carries the workers that `argument`, a carrier, is
// assigned.
void carry(void* argument);

}  // namespace heddle::worker

// A carrier: the kernel thread that runs a worker at the moment. A worker changes carriers when its thread makes a
// blocking call.
#pragma once

#include <atomic>
#include <cstdint>

#include <heddle/thread_slot.hpp>

#include "base/exception_state.hpp"
#include "fiber/sanitizer.hpp"
#include "platform/platform.hpp"

namespace heddle::worker {

class worker;
class runtime;

using base::exception_state;

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
  // [preempt:6]: the carrier was made for no certain worker, and joins the spares when it is ready to.
  bool offers_itself{false};
  carrier* next_spare{nullptr};  // under the mutex of `carriers`, or of the worker in whose pool it is
  // The processing unit that the carrier is bound to; -1 if it is bound to none, -2 if that is not known yet. Written
  // by the carrier itself, or by the kernel thread that is about to raise `signal`.
  int bound_to{-2};
  void* thread_pointer{nullptr};      // of its own
  std::atomic<int> id{0};             // of its kernel thread, for ticks; 0 until that has begun
  platform::tick_timer timer;         // its own; ticks come to it
  platform::signal_state signals;     // its own
  platform::usage_counters counters;  // its own, where the policy wants to know what tasks use
  // relaxed: its own, and of the signal handler that interrupts it
  enum class ticking : std::uint8_t { no, once, always };
  std::atomic<ticking> ticks{ticking::no};
  // The timer was last set for time slices that are short because threads spin ([slice:4]).
  bool short_slices{false};
  carrier* next_all{nullptr};  // under the mutex of `carriers`
  // The slots of the carrier's kernel thread ([slot:5]) while those of a thread in a blocking call stand in their
  // place; its own.
  void* own_slots[detail::thread_slots]{};

  // Called when the carrier is a spare, or by itself, and the runtime ends.
  void end() noexcept {
    signal.store(2);
    platform::wake_one(signal);
  }

  // Must be called before the running thread is switched away from. Returns the exceptions that the thread is handling.
  // The thread takes them back (take_back_exceptions) when it goes on, on whichever carrier.
  [[nodiscard]] exception_state leave_exceptions() noexcept { return exceptions->leave(); }
};

// The body of a carrier's kernel thread, from its beginning to its end: carries the workers that `argument`, a carrier,
// is assigned.
void carry(void* argument);

}  // namespace heddle::worker

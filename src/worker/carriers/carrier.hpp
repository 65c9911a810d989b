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
  bool offers_itself{false};     // [preempt:6]: made for no certain worker, it joins the spares when it is ready to
  carrier* next_spare{nullptr};  // under the mutex of `carriers`, or of the worker in whose pool it is
  // The processing unit that it is bound to; -1: none; -2: not known yet. Written by itself, or by who is about to
  // raise `signal`.
  int bound_to{-2};
  void* thread_pointer{nullptr};      // of its own
  std::atomic<int> id{0};             // of its kernel thread, for ticks; 0: it has not begun
  platform::tick_timer timer;         // its own; ticks come to it
  platform::signal_state signals;     // its own
  platform::usage_counters counters;  // its own, where the policy wants to know what tasks use
  // relaxed: its own, and of the signal handler that interrupts it
  enum class ticking : std::uint8_t { no, once, always };
  std::atomic<ticking> ticks{ticking::no};
  bool short_turns{false};     // its timer was last set for turns that are short because threads spin ([turn:4])
  carrier* next_all{nullptr};  // under the mutex of `carriers`
  // Its kernel thread's slots ([slot:5]) while those of a thread in a blocking call stand in their place; its own.
  void* own_slots[detail::thread_slots]{};

  // To be called before the running thread is switched away from. Returns the exceptions that it is handling, which it
  // takes back (take_back_exceptions) when it goes on, on whichever carrier.
  [[nodiscard]] exception_state leave_exceptions() noexcept { return exceptions->leave(); }
};

// What its kernel thread does, from its beginning to its end: carries the workers that `argument`, a carrier, is
// assigned.
void carry(void* argument);

}  // namespace heddle::worker

// Ticks in virtual time: signals of timers, and sent ones. Rules: README.md, [tick:1] to [tick:4].
#pragma once

#include <vector>

#include "platform/platform.hpp"
#include "platform/sim/strand.hpp"

namespace heddle::sim {

class engine;

class ticks {
 public:
  explicit ticks(engine& of) noexcept : engine_(of) {}
  ticks(const ticks&) = delete;
  ticks& operator=(const ticks&) = delete;

  // `handler` is called on the strand that gets a tick, at a point where the strand's clock has reached the tick's
  // time. The handler may leave that stack, on which another strand may go on.
  void listen(void (*handler)(void* owner, platform::interrupted& what) noexcept) noexcept { listener_ = handler; }
  // Whether the process listens.
  bool are_heard() const noexcept { return listener_ != nullptr; }

  // Makes a timer of the running strand. Returns its number, which is not negative.
  [[nodiscard]] int make_timer(void* owner);
  // The timer must be that of the running strand. first == 0 means no more ticks.
  void set_timer(int timer, picoseconds first, picoseconds interval) noexcept;
  void drop_timer(int timer) noexcept;
  void send(unsigned strand) noexcept;

  // --- for the engine ---
  // Called when the strand has no timers any more, and no tick is on its way to it.
  void forget(strand& s) noexcept;
  // Delivers the running strand's next tick at once. The handler may leave this stack, and return on another strand.
  [[gnu::cold]] void take() noexcept;
  // Called after a step of a charge: takes the tick that is due. Returns the rest of the charge, which the strand on
  // which it goes on must make.
  [[gnu::cold]] picoseconds rest_after(picoseconds rest) noexcept;
  void take_at_explored_point() noexcept;

 private:
  struct timer {
    strand* target;  // null if the timer is free
    void* owner;
    picoseconds next, interval;
  };

  void find_next(strand& s) noexcept;
  void interrupt(strand& s) noexcept;

  engine& engine_;
  void (*listener_)(void*, platform::interrupted&) noexcept {nullptr};
  std::vector<timer> timers_;
  picoseconds signal_lock_free_{0};  // the time until which the signals so far are delivered, one after the other
};

}  // namespace heddle::sim

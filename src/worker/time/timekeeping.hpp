// The clock of a runtime: time limits of its waiting threads, and the worker that looks at them when all workers sleep
// ("Time" in run_loop.md). Owns the timers, and the rank of the sleeping worker whose sleep ends at the next deadline.
// Any kernel thread may call, with preemption off. Promise [time:3]: while a timer is armed and some worker sleeps, one
// that does not sleeps no longer than until it is due, or somebody is on the way to see to that.
#pragma once

#include <atomic>

#include "platform/platform.hpp"
#include "worker/searching/sleepers.hpp"
#include "worker/time/timers.hpp"

namespace heddle::worker {

class timekeeping {
 public:
  explicit timekeeping(sleepers& all) noexcept : sleepers_(all) {}

  timer_heap& timers() noexcept { return timers_; }
  // True if some time limit runs. A hint.
  bool has_timers() const noexcept { return timers_.next() != timer_heap::never; }
  // True if a time limit has passed. A hint.
  bool is_due() const noexcept { return has_timers() && timers_.next() <= platform::now(); }
  void fire() noexcept {
    if (has_timers()) [[unlikely]]
      fire_due();
  }
  // A timer was added that is the earliest at the moment.
  void timer_added() noexcept;

  // The caller, about to sleep, keeps time if no other worker does. Returns the deadline to sleep until, 0 for none.
  platform::nanoseconds claim(unsigned rank) noexcept;
  void leave(unsigned rank) noexcept;
  // True if there is time to keep, and no worker keeps it.
  bool lacks_keeper() const noexcept { return has_timers() && keeper_.load() < 0; }
  // The caller goes to work: some sleeping worker must keep time if there is time to keep.
  void delegate() noexcept {
    if (lacks_keeper()) sleepers_.wake_one_for(0);
  }

 private:
  void fire_due() noexcept;

  sleepers& sleepers_;
  timer_heap timers_;
  std::atomic<int> keeper_{-1};  // rank of the sleeping worker whose sleep ends at the next deadline
};

}  // namespace heddle::worker

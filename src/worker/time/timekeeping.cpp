#include "worker/time/timekeeping.hpp"

#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

void timekeeping::fire_due() noexcept {
  const platform::nanoseconds now = platform::now();
  if (timers_.next() <= now) timers_.fire(now);
}

platform::nanoseconds timekeeping::claim(unsigned rank) noexcept {
  if (!has_timers()) return 0;
  int nobody = -1;
  if (!keeper_.compare_exchange_strong(nobody, static_cast<int>(rank))) return 0;
  const platform::nanoseconds deadline = timers_.next();
  if (deadline != timer_heap::never) return deadline;
  keeper_.store(-1);
  return 0;
}

void timekeeping::leave(unsigned rank) noexcept {
  int me = static_cast<int>(rank);
  keeper_.compare_exchange_strong(me, -1);
}

void timekeeping::timer_added() noexcept {
  // A worker on its way to the run loop takes care of the timer, whether it sleeps next or not: [time:1], [time:2].
  const worker* w = worker::current_or_null();
  const bool looks_itself = w != nullptr && &w->home.time() == this && w->running == nullptr;
  // The sleeper that keeps time has an older, later deadline, and is woken. If no worker keeps time, some worker has to
  // look.
  const int keeper = keeper_.load();
  if (keeper >= 0 && sleepers_.send_token(static_cast<unsigned>(keeper))) return;
  // Its worker is with a caller, and its carrier sleeps on until the older deadline.
  if (keeper >= 0) leave(static_cast<unsigned>(keeper));
  if (keeper >= 0 || !looks_itself) sleepers_.wake_one_for(0);
}

}  // namespace heddle::worker

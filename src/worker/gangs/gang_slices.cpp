// The time slices of gangs whose threads are all preemptive: how ticks make such a gang give its workers to others
// ([gang:12] to [gang:15] of gangs.md).
#include <mutex>

#include "worker/gangs/gangs.hpp"
#include "worker/runtime.hpp"

namespace heddle::worker {

namespace {

constexpr unsigned ticks_of_a_slice = 8;

}  // namespace

// Under lock_. From here on none of the gang's threads begins to run.
void gangs::end_slice(gang& g) noexcept {
  g.ending = true;
  for (unsigned i = 0; i < g.size; ++i) {
    seat& s = g.seats[i];
    if (s.has_come && s.active && !s.withheld && workers_[s.worker]->pinned.remove(*s.holder)) s.withheld = true;
  }
}

// Under lock_. The gang's time slice is ending. When none of its threads runs any more it waits behind all gangs that
// wait.
void gangs::put_off_if_still(gang& g, threads_to_list& out) noexcept {
  for (unsigned i = 0; i < g.size; ++i) {
    const seat& s = g.seats[i];
    if (s.has_come && s.active && !s.withheld) return;
  }
  put_off(g, out);
  g.lap = ++laps_;
  wait_for_workers(g);
}

gangs::after_tick gangs::tick(const thread& t) noexcept {
  std::lock_guard hold(lock_);
  seat& s = *t.listed.seat;
  gang& g = *s.of;
  unsigned& of_worker = ticks_at_[s.worker];
  ++of_worker;
  if (g.ending) return after_tick::none;
  if (++s.ticks % ticks_of_a_slice == 0 && g.on && g.is_sliced && waiting_ != nullptr) {
    end_slice(g);
    return after_tick::none;
  }
  if (of_worker < ticks_of_a_slice) return after_tick::siblings;
  of_worker = 0;
  return after_tick::anybody;
}

}  // namespace heddle::worker

// The part of idle workers in gangs: a ready thread of a gang goes from a busy worker to one that has nothing ([gang:8]
// of gangs.md).
#include <mutex>

#include "worker/gangs/gangs.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"

namespace heddle::worker {

// Looks at busy workers only, because an idle worker takes its own threads.
bool gangs::some_are_listed_beside(unsigned rank) const noexcept {
  for (unsigned r = 0; r < count(); ++r) {
    const worker& w = *workers_[r];
    if (r != rank && w.pinned.has_gangs() && !w.idle.load(std::memory_order_relaxed)) return true;  // hints
  }
  return false;
}

// Under lock_. Returns the seat of a thread that stands in the list of a busy worker, or null.
seat* gangs::find_for(unsigned rank) noexcept {
  for (gang* g = on_; g != nullptr; g = g->next) {
    if (!is_free_for(*g, rank)) continue;
    for (unsigned i = 0; i < g->size; ++i) {
      seat& s = g->seats[i];
      if (!s.has_come || !s.active || s.own_worker >= 0 || !may_run(s)) continue;
      worker& w = *workers_[s.worker];
      if (!w.pinned.has_gangs() || w.idle.load(std::memory_order_relaxed)) continue;  // hints
      if (w.pinned.has(*s.holder)) return &s;
    }
  }
  return nullptr;
}

thread* gangs::steal(unsigned rank) noexcept {
  if (!some_are_listed_beside(rank)) return nullptr;
  threads_to_list out;
  std::lock_guard hold(lock_);
  seat* const s = find_for(rank);
  if (s == nullptr || !workers_[s->worker]->pinned.remove(*s->holder)) return nullptr;
  stand_up(*s);
  let_run(s->worker, out);
  sit_down(*s, rank);
  s->holder->ties.belongs.seat(rank);
  return s->holder;
}

bool gangs::can_steal(unsigned rank) noexcept {
  if (!some_are_listed_beside(rank)) return false;
  std::lock_guard hold(lock_);
  return find_for(rank) != nullptr;
}

// [gang:8]. Called after the push, which is a full fence: with the sleeper's {announce, heavy fence, can_steal}, these
// are Dekker's two sides. A worker that has just been unparked is about to look, perhaps for another thread: it is
// passed over.
void gangs::wake_for(unsigned rank) noexcept {
  runtime& home = workers_.front()->home;
  if (!home.sleepers().idle().anyone_asleep()) return;
  for (unsigned i = 1; i <= count(); ++i) {
    const unsigned r = (rank + i) % count();
    if (!home.sleepers().idle().is_asleep(r) || workers_[r]->token.look() == token::state::awake) continue;
    if (seats_at_[r].load(std::memory_order_relaxed) != nullptr) continue;  // a hint
    home.sleepers().send_token(r);
    return;
  }
}

// [gang:8]. Called after a fence, in two cases. A worker has found something else, and wake_for may have passed it over
// or woken it. Or a seat has been given up, for which wake_for may have passed over a worker that sleeps.
void gangs::pass_on() noexcept {
  if (some_are_listed_beside(count())) sources::gang_threads::announce(workers_.front()->home, count() - 1);
}

}  // namespace heddle::worker

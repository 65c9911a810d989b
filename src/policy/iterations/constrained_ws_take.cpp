// Constrained work stealing, second part: what a worker takes next. Source and deviations: constrained_ws.cpp.
#include <algorithm>
#include <mutex>

#include <heddle/policy_victims.hpp>

#include "policy/iterations/constrained_ws.hpp"
#include "policy/iterations/constrained_ws_tasks.hpp"
#include "policy/patience.hpp"

namespace heddle::policy {

// --- pieces in order ---------------------------------------------------------------------------------------------

void constrained_ws::piece_queue::insert(task& t) noexcept {
  std::lock_guard hold(lock_);
  task* after = nullptr;
  task* before = list_.back();
  while (before != nullptr && state_of(*before).order > state_of(t).order) {
    after = before;
    before = before->previous;
  }
  list_.insert_before(t, after);
  size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // under lock_; a hint elsewhere
}

bool constrained_ws::piece_queue::has(unsigned due) noexcept {
  if (looks_empty()) return false;
  std::lock_guard hold(lock_);
  return !list_.empty() && state_of(*list_.front()).order <= due;
}

task* constrained_ws::piece_queue::take(unsigned due) noexcept {
  if (looks_empty()) return nullptr;
  std::lock_guard hold(lock_);
  if (list_.empty() || state_of(*list_.front()).order > due) return nullptr;
  size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);  // under lock_; a hint elsewhere
  return list_.pop_front();
}

// --- taking ------------------------------------------------------------------------------------------------------

// Called when the task goes on on this worker. If it goes on for the first time, the worker is noted.
void constrained_ws::begin(unsigned self, task& t) noexcept {
  bool watched = true;
  if (t.tag == &inside_) {
    in_iteration& at = state_of(t);
    if (at.home == nobody) {
      at.home = self;
      station& mine = stations_[self];
      if (at.recorded != nobody) {
        if (iterations_.now() == mode::strict) mine.begun.fetch_add(1, std::memory_order_relaxed);  // its own
        else stations_[at.recorded].left.fetch_sub(1, std::memory_order_relaxed);                   // a hint
      }
      if (steal_node* n = at.node; n != nullptr) {
        n->worker = self;
        if (n->is_piece()) {
          n->order = mine.begun.fetch_add(1, std::memory_order_relaxed);  // its own
          n->parent->keep();
        }
      }
    }
    watched = !at.is(in_iteration::unwatched);
  }
  host_->watch(self, watched);
}

entry constrained_ws::next_own(unsigned self) noexcept {
  station& mine = stations_[self];
  task* t = mine.kept.pop_back();
  if (t == nullptr) t = mine.open.pop_back();
  if (t == nullptr && !mine.assigned.looks_empty()) t = mine.assigned.take(due(mine));
  if (t == nullptr) t = mine.passed.pop_front();
  return t == nullptr ? 0 : begun(self, *t);
}

// A task that goes on without the policy's help (a ready thread, a fork) is watched. If it need not be watched, its
// first fork or child finds that out.
entry constrained_ws::pick(unsigned self, bool own_is_empty) noexcept {
  if (own_is_empty) return next_own(self);
  host_->watch(self, true);
  return 0;
}

entry constrained_ws::steal_from(unsigned self, unsigned victim, effort how) noexcept {
  if (task* t = stations_[victim].open.pop_front(); t != nullptr) return begun(self, *t);
  if (task* t = stations_[victim].passed.pop_back(); t != nullptr) return begun(self, *t);
  if (!robs()) return 0;
  return rob(*host_, self, victim, how);
}

// Gives up the order, because a piece may wait for an earlier one that never comes [relws:4].
void constrained_ws::check_stuck(unsigned self) noexcept {
  station& mine = stations_[self];
  mine.stuck = !mine.assigned.looks_empty() && host_->all_idle() ? mine.stuck + 1 : 0;
  if (mine.stuck < idle_enough || iterations_.loosen()) return;
  host_->remark(self, "constrained_ws: the order of pieces is given up, nobody runs anything; worker", self);
  for (unsigned rank = 0; rank < workers_; ++rank) {
    if (rank != self && !stations_[rank].assigned.looks_empty()) host_->wake(rank);
  }
}

entry constrained_ws::acquire(unsigned self, effort how) noexcept {
  station& mine = stations_[self];
  if (how == effort::insist) check_stuck(self);
  entry found = next_own(self);
  if (found == 0 && workers_ > 1) {
    // a hint
    if (iterations_.now() == mode::relaxed && mine.left.load(std::memory_order_relaxed) != 0 &&
        mine.in_vain < settings_.patience) {
      if (how == effort::insist) ++mine.in_vain;
      return 0;
    }
    const others victims(self, *host_);
    found = memory_.go_round(
        self, victims.size(), how, [&] { return host_->random(self, victims.size()); },
        [&](unsigned place) { return steal_from(self, victims[place], how); },
        [&](unsigned place) { return host_->has_work(victims[place]); });
  }
  if (found != 0) mine.in_vain = 0;
  return found;
}

// Sees everything that acquire finds after `patience` searches [seam:5].
bool constrained_ws::may_find(unsigned self) noexcept {
  station& mine = stations_[self];
  if (!mine.kept.looks_empty() || mine.assigned.has(due(mine))) return true;
  const bool robs_others = robs();
  for (unsigned rank = 0; rank < workers_; ++rank) {
    if (!stations_[rank].open.looks_empty() || !stations_[rank].passed.looks_empty()) return true;
    if (rank != self && robs_others && host_->has_work(rank)) return true;
  }
  if (!host_->all_idle()) return false;
  bool held_back = false;
  for (unsigned rank = 0; rank < workers_; ++rank) {
    if (stations_[rank].assigned.looks_empty()) continue;
    if (rank == self) held_back = true;
    else host_->wake(rank);
  }
  return held_back;
}

}  // namespace heddle::policy

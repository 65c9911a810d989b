// The second part of ml-adaptive: what an idle worker takes. The rules: ml_adaptive.md.
#include <algorithm>

#include "policy/adws/ml_adaptive.hpp"

namespace heddle::policy {

// Tries all victims of one distance, from a random one on, until attempt(victim) finds something.
template <class Attempt>
entry ml_adaptive::go_round_ring(unsigned self, const searcher& mine, unsigned ring, Attempt&& attempt) noexcept {
  const unsigned count = mine.victims.size_of(ring), begin = mine.victims.begin_of(ring);
  return go_round(count, host_->random(self, count), effort::insist,
                  [&](unsigned place) { return attempt(mine.victims.workers()[begin + place]); });
}

// Rule [adaptive:2].
entry ml_adaptive::take_anything(unsigned self, effort how) noexcept {
  searcher& mine = searchers_[self];
  for (unsigned ring = 0; ring < mine.victims.count(); ++ring) {
    const entry found = go_round_ring(self, mine, ring,
                                      [&](unsigned victim) { return search_.steal_from_anywhere(self, victim, how); });
    if (found != 0) return found;
  }
  for (const unsigned victim : mine.victims.workers()) {
    if (const entry found = search_.steal_search_root(self, victim); found != 0) return found;
  }
  return layout_.workers().rescue(self);
}

// Rule [adaptive:7]: tries every victim of each distance but the farthest, which needs the whole patience.
entry ml_adaptive::take_sooner(unsigned self, effort how) noexcept {
  const searcher& mine = searchers_[self];
  if (settings_.near == 0) return 0;
  for (unsigned ring = 0; ring + 1 < mine.victims.count(); ++ring) {
    const unsigned nearer = std::min(mine.victims.count() - 1 - ring, 8u);
    if (mine.in_vain < std::max(mine.patience >> (2 * nearer), 1u)) break;
    const entry found =
        go_round_ring(self, mine, ring, [&](unsigned victim) { return search_.steal_leaf(self, victim, how); });
    if (found != 0) return found;
  }
  return 0;
}

// Rule [adaptive:5]: tries one victim of each distance but the farthest.
entry ml_adaptive::take_near(unsigned self, effort how) noexcept {
  const searcher& mine = searchers_[self];
  if (settings_.near == 0 || !uneven_.load(std::memory_order_relaxed)) return 0;  // a hint
  unsigned borne = settings_.near;
  for (unsigned ring = 0; ring + 1 < mine.victims.count() && mine.glances >= borne; ++ring, borne *= 4) {
    const unsigned offset = host_->random(self, mine.victims.size_of(ring));
    const unsigned victim = mine.victims.workers()[mine.victims.begin_of(ring) + offset];
    if (const entry found = search_.steal_leaf(self, victim, how); found != 0) return found;
  }
  return 0;
}

// Rule [adaptive:6].
entry ml_adaptive::take_bound(unsigned self, effort how) noexcept {
  if (bound_owners_.load() == 0) return 0;
  const entry found = bound_.acquire(self, how);
  if (found != 0) host_->watch(self, true);
  return found;
}

entry ml_adaptive::acquire(unsigned self, effort how) noexcept {
  searcher& mine = searchers_[self];
  entry found = take_bound(self, how);
  if (found == 0) found = search_.acquire(self, how);
  if (found != 0) {
    mine.patience = std::min(mine.patience * 2, settings_.patience);
  } else {
    ++mine.glances;
    found = take_near(self, how);
    if (found == 0 && how == effort::insist) {
      mine.in_vain = may_find(self) ? mine.in_vain + 1 : 0;
      found = take_sooner(self, how);
      if (found == 0 && mine.in_vain >= mine.patience && (found = take_anything(self, how)) != 0)
        mine.patience = std::max(mine.patience / 2, 1u);
    }
  }
  if (found != 0) mine.in_vain = mine.glances = 0;
  return found;
}

entry ml_adaptive::pick(unsigned self, bool own_is_empty) noexcept {
  const entry found = layout_.workers().pick(self, own_is_empty);
  return found == 0 && own_is_empty ? take_bound(self, effort::glance) : found;
}

bool ml_adaptive::may_find(unsigned self) noexcept {
  if (search_.has_anything(self) || (bound_owners_.load() != 0 && bound_.may_find(self))) return true;
  return search_.has_search_root();
}

}  // namespace heddle::policy

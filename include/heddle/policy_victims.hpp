/// Components of work-stealing policies: whom a thief tries, in which order.
#pragma once

#include <algorithm>
#include <vector>

#include <heddle/policy.hpp>

namespace heddle::policy {

/// One attempt of a thief: takes from the victim; else, at a glance, asks it to make work public. A thief that looks
/// without asking finds nothing where all work is private, however often it looks.
inline entry rob(scheduler& host, unsigned self, unsigned victim, effort how) noexcept {
  const entry found = host.steal(self, victim, how);
  if (found == 0 && how == effort::glance) host.request(self, victim);
  return found;
}

/// Goes round `count` places from place `from` on, one at a glance, all of them for who insists, until
/// attempt(place) finds something.
template <class Attempt>
entry go_round(unsigned count, unsigned from, effort how, Attempt&& attempt) noexcept {
  for (unsigned tried = 0; tried < (how == effort::insist ? count : std::min(count, 1u)); ++tried) {
    if (const entry found = attempt((from + tried) % count); found != 0) return found;
  }
  return 0;
}

/// The workers [first, first + count) but `self`, in the order of their ranks.
class others {
 public:
  others(unsigned self, unsigned first, unsigned count) noexcept
      : self_(self), first_(first), count_(self - first < count ? count - 1 : count) {}
  others(unsigned self, const scheduler& host) noexcept : others(self, 0, host.workers()) {}

  unsigned size() const noexcept { return count_; }
  unsigned operator[](unsigned place) const noexcept {
    const unsigned worker = first_ + place;
    return worker + (worker >= self_ && self_ >= first_ ? 1u : 0u);
  }
  /// Robs them in a ring from a random one on. Source: Blumofe, Leiserson, "Scheduling multithreaded computations by
  /// work stealing" (J. ACM 46(5), 1999).
  entry rob_at_random(scheduler& host, effort how) const noexcept {
    if (count_ == 0) return 0;
    return go_round(count_, host.random(self_, count_), how,
                    [&](unsigned place) { return rob(host, self_, (*this)[place], how); });
  }

 private:
  unsigned self_, first_, count_;
};

/// All other workers, nearest first: rings of equal distance. Within a ring they stand by rank, or in the order of a
/// walk round the circle of all ranks that begins behind `self`.
class rings {
 public:
  enum class order { by_rank, by_circle };
  rings() = default;
  rings(unsigned self, const scheduler& host, order among_equals) {
    const unsigned workers = host.workers();
    for (unsigned i = 1; i < workers; ++i) workers_.push_back((self + i) % workers);
    if (among_equals == order::by_rank) std::sort(workers_.begin(), workers_.end());
    const auto nearer = [&](unsigned a, unsigned b) { return host.distance(self, a) < host.distance(self, b); };
    std::stable_sort(workers_.begin(), workers_.end(), nearer);
    for (unsigned i = 0; i < workers_.size(); ++i) {
      if (i + 1 == workers_.size() || nearer(workers_[i], workers_[i + 1])) ends_.push_back(i + 1);
    }
  }

  const std::vector<unsigned>& workers() const noexcept { return workers_; }
  unsigned count() const noexcept { return static_cast<unsigned>(ends_.size()); }
  /// Where in workers() ring `i` begins, and where the next one does.
  unsigned begin_of(unsigned i) const noexcept { return i == 0 ? 0 : ends_[i - 1]; }
  unsigned end_of(unsigned i) const noexcept { return ends_[i]; }
  unsigned size_of(unsigned i) const noexcept { return end_of(i) - begin_of(i); }

 private:
  std::vector<unsigned> workers_;
  std::vector<unsigned> ends_;
};

}  // namespace heddle::policy

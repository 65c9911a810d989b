// Which classes of tasks which group of equal cores is to run. Classes are rows, the longest tasks first, and groups
// are columns, the fastest first; each group gets a range of consecutive classes, at least one. The makespan is the
// longest of the groups' spans, and the span of a group is the time of its classes on one of its cores, divided by the
// number of its cores. No allocation has a shorter makespan than the one that is found. A component.
//
// Source: Chen and Guo (2017), Algorithm 8, which tries all C(m - 1, k - 1) allocations.
//
// Deviation: the allocation is computed from the last group to the first one, in k m^2 steps and not by trying all. The
// makespan is the same. Of several allocations with that makespan the algorithm keeps the one that it tries last; tried
// in lexicographical order of their cuts, that is the one with the largest cuts, which is found here, too. With fewer
// classes than groups the fastest groups get one class each; the algorithm has no allocation then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace heddle::policy {

class range_allocation {
 public:
  range_allocation() = default;
  range_allocation(unsigned most_classes, unsigned most_groups)
      : stride_(most_classes + 1),
        below_(std::size_t{stride_} * most_groups),
        best_(std::size_t{stride_} * (most_groups + 1)),
        ends_(most_groups) {}

  // `time(c, g)` is the time of all tasks of class c on one core of group g, and `cores` has the number of cores of
  // each group. Both counts must be positive, and at most those of the constructor. Nothing is allocated.
  template <class Time>
  void find(unsigned classes, std::span<const unsigned> cores, Time&& time) noexcept {
    groups_ = static_cast<unsigned>(cores.size());
    const unsigned used = std::min(classes, groups_);
    for (unsigned g = 0; g < used; ++g) {
      double sum = 0;
      for (unsigned c = 0; c < classes; ++c) {
        below(g, c) = sum;
        sum += time(c, g);
      }
      below(g, classes) = sum;
    }
    const auto span = [&](unsigned g, unsigned from, unsigned to) {
      return (below(g, to) - below(g, from)) / cores[g];
    };
    // best(g, c): the least makespan of classes from c on, on the groups from g on
    for (unsigned c = 0; c <= classes; ++c) best(used, c) = c == classes ? 0 : impossible;
    for (unsigned g = used; g-- > 0;) {
      for (unsigned from = 0; from <= classes; ++from) {
        best(g, from) = impossible;
        for (unsigned to = from + 1; to <= classes; ++to)
          best(g, from) = std::min(best(g, from), std::max(span(g, from, to), best(g + 1, to)));
      }
    }
    makespan_ = best(0, 0);
    for (unsigned g = 0, from = 0; g < groups_; ++g) {
      unsigned to = classes;
      while (g < used && to > from + 1 && (span(g, from, to) > makespan_ || best(g + 1, to) > makespan_)) --to;
      ends_[g] = from = to;
    }
  }

  // Of the last call of `find`.
  double makespan() const noexcept { return makespan_; }
  // The first class that is beyond the range of group g.
  unsigned end_of(unsigned g) const noexcept { return ends_[g]; }
  unsigned group_of(unsigned c) const noexcept {
    unsigned g = 0;
    while (ends_[g] <= c) ++g;
    return g;
  }

 private:
  static constexpr double impossible = std::numeric_limits<double>::infinity();
  double& below(unsigned g, unsigned c) noexcept { return below_[std::size_t{g} * stride_ + c]; }
  double& best(unsigned g, unsigned c) noexcept { return best_[std::size_t{g} * stride_ + c]; }

  unsigned stride_{1};
  unsigned groups_{0};
  std::vector<double> below_;  // by group and class: the time of the classes before it
  std::vector<double> best_;
  std::vector<unsigned> ends_;
  double makespan_{0};
};

}  // namespace heddle::policy

// The overlap of the lines of one call: when each sets out, and when all have arrived.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace heddle::sim {

// The lines of a range. `overlap` of them are on their way at once, and they set out in order.
class pipeline {
 public:
  // `finish` is room for `overlap` times.
  pipeline(std::vector<double>& finish, double start) : finish_(finish), issue_(start), end_(start) {
    std::fill(finish_.begin(), finish_.end(), start);
  }
  // The time at which the next line sets out.
  double issue() {
    issue_ = std::max(issue_, finish_[place_]);
    return issue_;
  }
  void arrives_after(double latency) {
    const double at = issue_ + latency;
    finish_[place_] = at;
    place_ = place_ + 1 == finish_.size() ? 0 : place_ + 1;
    end_ = std::max(end_, at);
  }
  double end() const { return end_; }

 private:
  std::vector<double>& finish_;  // for the last `overlap` lines, a ring
  std::size_t place_{0};
  double issue_, end_;
};

// The lines of a range that continues others, which are still on their way. In a stream each line takes its part of
// `overlap`. A first line that the others have requested already takes nothing, if it takes no longer than `known`
// because it is found in the innermost cache.
class continued_pipeline {
 public:
  continued_pipeline(std::size_t overlap, double known, double start)
      : overlap_(static_cast<double>(overlap)), known_(known), issue_(start) {}
  double issue() const { return issue_; }
  void arrives_after(double latency) {
    if (known_ < 0) issue_ += latency / overlap_;
    else if (latency > known_) issue_ += latency;
    known_ = -1;
  }
  double end() const { return issue_; }

 private:
  double overlap_, known_, issue_;
};

// The lines of rows. As many are on their way at once, but a fast line does not wait for a slow one before it; only the
// reorder buffer is filled and left in order. The buffer has 224 micro-operations (Skylake; Intel's optimization
// manual, 2.5.1), seven of them a line in a stencil of vectors of 32 bytes: 32 lines.
class reordering_pipeline {
 public:
  reordering_pipeline(std::vector<double>& finish, double start) : finish_(finish), issue_(start), retired_(start) {
    std::fill(finish_.begin(), finish_.end(), start);
    std::fill(std::begin(window_), std::end(window_), start);
  }
  double issue() {
    issue_ = std::max({issue_, finish_[first_], window_[place_]});
    return issue_;
  }
  // Most lines arrive in the order in which they set out, so the new time seldom moves far.
  void arrives_after(double latency) {
    const double at = issue_ + latency;
    std::size_t hole = first_;
    first_ = first_ + 1 == finish_.size() ? 0 : first_ + 1;
    while (hole != first_) {
      const std::size_t before = hole == 0 ? finish_.size() - 1 : hole - 1;
      if (finish_[before] <= at) break;
      finish_[hole] = finish_[before];
      hole = before;
    }
    finish_[hole] = at;
    retired_ = std::max(retired_, at);
    window_[place_] = retired_;
    place_ = (place_ + 1) % lines;
  }
  double end() const { return retired_; }

 private:
  static constexpr unsigned lines = 32;
  std::vector<double>& finish_;  // for the lines on their way, ascending from first_ on, a ring
  std::size_t first_{0};
  // For each of the last lines, the time at which it and all before it had arrived.
  double window_[lines];
  unsigned place_{0};
  double issue_, retired_;
};

}  // namespace heddle::sim

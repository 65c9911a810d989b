// Groups of workers of about equal speed, the fastest first: the c-groups of Chen and Guo (2017), section 5.4. A
// component of policies for cores of unlike speed.
//
// The book's groups are fixed. Here speeds are measured and change, so workers whose speeds differ by less than
// `step` of the fastest of their group count as equal. A worker without a processor belongs to the slowest group and
// counts for none of its cores.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

namespace heddle::policy {

class core_groups {
 public:
  static constexpr unsigned most = 8;

  core_groups() = default;
  explicit core_groups(unsigned workers) : group_of_(workers, 0) {
    order_.reserve(workers);
    speeds_.reserve(most);
    cores_.reserve(most);
  }

  // Nothing is allocated. `speeds` is by worker.
  void divide(std::span<const double> speeds, double step) noexcept {
    order_.clear();
    for (unsigned w = 0; w < speeds.size(); ++w) order_.push_back(w);
    // by speed and then by rank; a sort that keeps the order of equal ones may allocate
    std::sort(order_.begin(), order_.end(),
              [&](unsigned a, unsigned b) { return speeds[a] > speeds[b] || (speeds[a] == speeds[b] && a < b); });
    speeds_.clear();
    cores_.clear();
    double fastest = 0;
    for (const unsigned w : order_) {
      const bool runs = speeds[w] > 0;
      if (speeds_.empty() || (runs && speeds[w] < (1 - step) * fastest && speeds_.size() < most)) {
        fastest = speeds[w];
        speeds_.push_back(speeds[w] > 0 ? speeds[w] : 1);
        cores_.push_back(0);
      }
      group_of_[w] = static_cast<unsigned>(speeds_.size()) - 1;
      if (runs) ++cores_.back();
    }
    for (unsigned& count : cores_) count = std::max(count, 1u);
  }

  unsigned count() const noexcept { return static_cast<unsigned>(speeds_.size()); }
  unsigned group_of(unsigned worker) const noexcept { return group_of_[worker]; }
  // The speed of its fastest worker.
  double speed(unsigned group) const noexcept { return speeds_[group]; }
  // Of all groups: how many workers run.
  std::span<const unsigned> cores() const noexcept { return cores_; }

 private:
  std::vector<unsigned> group_of_;  // by rank
  std::vector<unsigned> order_;
  std::vector<double> speeds_;   // by group
  std::vector<unsigned> cores_;  // by group
};

}  // namespace heddle::policy

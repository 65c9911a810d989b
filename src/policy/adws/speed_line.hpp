// A number line whose members are of unlike speed. It says where to cut a range so that its parts get work in
// proportion to the speed of the members on which they lie, and not to their number. Member i is [i, i + 1) as on every
// line of a layout (distribution.hpp), so owners, ends and search roots mean the same. A component; a layout holds one
// for each domain.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace heddle::policy {

class speed_line {
 public:
  speed_line() = default;  // all members are equal
  // The speeds are by member. If they are equal, or one of them is not positive, the line is one of equal members.
  explicit speed_line(std::span<const double> speeds) {
    const auto [least, most] = std::minmax_element(speeds.begin(), speeds.end());
    if (speeds.empty() || !(*least > 0) || *least == *most) return;
    below_.push_back(0);
    for (const double speed : speeds) below_.push_back(below_.back() + speed);
  }

  bool is_even() const noexcept { return below_.empty(); }

  // The following functions need a line whose members are not equal.

  // The sum of the speeds below a place, in the unit of the speeds.
  double speed_below(double place) const noexcept {
    const auto whole = std::min(static_cast<std::size_t>(std::max(place, 0.0)), below_.size() - 2);
    return below_[whole] + (place - static_cast<double>(whole)) * (below_[whole + 1] - below_[whole]);
  }
  double place_of(double speed) const noexcept {
    const auto next = std::upper_bound(below_.begin() + 1, below_.end() - 1, speed);
    const auto whole = static_cast<std::size_t>(next - below_.begin()) - 1;
    return static_cast<double>(whole) + (speed - below_[whole]) / (below_[whole + 1] - below_[whole]);
  }
  // The place above which lies `share` of the speed of [from, to).
  double cut(double from, double to, double share) const noexcept {
    const double upper = speed_below(to);
    return place_of(upper - (upper - speed_below(from)) * share);
  }

 private:
  // By member: the sum of the speeds of the members before it; then the sum of all. Empty if all are equal.
  std::vector<double> below_;
};

}  // namespace heddle::policy

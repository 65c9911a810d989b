// The profile of a program: which lines each of its tasks touches. `grouped:profile=FILE` writes it and `heddle group`
// reads it, as text, so that a program's author can write it, too. The format: docs/guide/grouping.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::policy {

// the most tasks of a site, in a profile and in a grouping made from it
inline constexpr unsigned most_tasks = 1u << 20;

// A set of line numbers, as ranges.
class line_set {
 public:
  struct range {
    std::uint64_t first, last;  // both belong to the range
    bool operator==(const range&) const = default;
  };
  void add(std::uint64_t first, std::uint64_t last) {
    if (!ranges_.empty() && first >= ranges_.back().first && first <= ranges_.back().last + 1) {
      if (last > ranges_.back().last) ranges_.back().last = last;
      return;
    }
    ranges_.push_back({first, last});
    if (ranges_.size() >= untidy_) tidy();
  }
  // The ranges are sorted, and none touches the next one.
  const std::vector<range>& ranges() {
    tidy();
    return ranges_;
  }
  std::uint64_t size();

 private:
  void tidy();
  std::vector<range> ranges_;
  std::size_t untidy_{64};  // the number of ranges at which they are sorted
};

struct profiled_task {
  double weight{0};  // instructions, or any unit of work; the same for all tasks
  line_set lines;
};

struct sharing_profile {
  std::uint64_t line_bytes{64};
  // Indexed by the number of the place in the program that makes children, in the order in which places were first
  // reached; then by the number of the child in its group.
  std::vector<std::vector<profiled_task>> sites;

  std::string text();
  // Throws std::invalid_argument, whose text names the file, the line and the error.
  static sharing_profile read(const std::string& file);
  static sharing_profile of(std::string_view text, const std::string& name);
};

}  // namespace heddle::policy

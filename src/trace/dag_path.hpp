// The longest path through the graph: its length at some point of the program, and its stretches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/dag.hpp"
#include "trace/dag_functions.hpp"

namespace heddle::trace {

inline constexpr std::uint32_t no_stretch = ~std::uint32_t{0};

// The longest path to some point of the program, with and without burden, and its last stretch.
struct longest_path {
  double span = 0;
  double burdened = 0;
  std::uint32_t last = no_stretch;

  void join(const longest_path& other) {
    if (other.span > span) {
      span = other.span;
      last = other.last;
    }
    burdened = std::max(burdened, other.burdened);
  }
  [[nodiscard]] longest_path with_burden(double ns) const { return {span, burdened + ns, last}; }
};

// The time of one thread on one worker between two events.
struct stretch {
  std::uint32_t before;  // the previous stretch of the longest path to here
  std::uint32_t function;
  std::uint16_t worker;
  std::uint64_t begin_ns, end_ns;
};

// All stretches of a recording, by number.
class stretches {
 public:
  std::uint32_t add(const stretch& s) {
    all_.push_back(s);
    return static_cast<std::uint32_t>(all_.size() - 1);
  }
  // Writes the path that ends with the stretch `last` to `into`, and charges its functions with it. Stretches that took
  // too long to be caused by the program are counted, unless the recording is of simulated time.
  void trace_back(std::uint32_t last, bool in_real_time, function_table& functions, dag_summary& into) const;

 private:
  std::vector<stretch> all_;
};

}  // namespace heddle::trace

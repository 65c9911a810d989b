// What a kernel is told about a modelled machine: `heddle sim` may run it with caches divided by a number, or with
// leaves that were written for other vector units.
//   --shrink K      divides the byte cutoffs of the locality kernels by K, and the sides of square blocks by its root,
//   so that tasks keep their size in relation to caches that are divided by K
//   --leaf-rate R   sets the multiply-adds a cycle that matmul's leaf declares to the simulator; its result is the same
// Both are set once, before a kernel runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace heddle::bench {

inline std::size_t shrink = 1;
inline double leaf_rate = 0;  // 0 means the rate measured for the compiled loop

inline std::size_t scaled_bytes(std::size_t bytes) { return std::max<std::size_t>(bytes / shrink, 1); }

// The side of a block whose area is divided: the next multiple of `step`.
inline std::size_t scaled_side(std::size_t side, std::size_t step) {
  if (shrink == 1) return side;
  const auto exact = static_cast<double>(side) / std::sqrt(static_cast<double>(shrink));
  const auto steps = static_cast<std::size_t>(std::ceil(exact / static_cast<double>(step)));
  return std::max<std::size_t>(steps, 1) * step;
}

}  // namespace heddle::bench

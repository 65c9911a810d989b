// Six neighbours in space, cut by planes: "6P" and "6P-ir" of Chen and Guo, section 4.10 (rows/tree.hpp), planes of 64
// x 64. A point becomes the mean of its neighbours.
#pragma once

#include "rows/stencil.hpp"

namespace heddle::bench {

struct stencil6 : stencil<stencil6> {
  static constexpr const char* name = "stencil6";
  static constexpr std::size_t default_n = 256, default_columns = 64, reach = 1;
  static constexpr bool solid = true;
  static constexpr double loads = 6;
  static double at(const double* p, std::ptrdiff_t line, std::ptrdiff_t row) {
    return (((((p[-row] + p[row]) + p[-line]) + p[line]) + p[-1]) + p[1]) * (1.0 / 6);
  }
};

}  // namespace heddle::bench

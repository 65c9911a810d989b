// Heat distribution on a plate, five points, cut by rows: "Heat" and "Heat-ir" of Chen and Guo (rows/tree.hpp), 1,024 x
// 512 doubles in their section 3.8.2. heat2d is the same problem in blocks, as in the ADWS thesis.
#pragma once

#include "rows/stencil.hpp"

namespace heddle::bench {

struct heat : stencil<heat> {
  static constexpr const char* name = "heat";
  static constexpr std::size_t default_n = 1024, default_columns = 512, reach = 1;
  static constexpr bool solid = false;
  static constexpr double loads = 4;
  static double at(const double* p, std::ptrdiff_t, std::ptrdiff_t row) {
    return 0.25 * (((p[-row] + p[row]) + p[-1]) + p[1]);
  }
};

}  // namespace heddle::bench

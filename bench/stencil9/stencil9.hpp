// Nine points of a plane, cut by rows: "9P" and "9P-ir" of Chen and Guo, section 4.10 (rows/tree.hpp). The book does
// not say which nine-point formula it uses. Here it is that of fourth order for Laplace's equation, (4 x sides +
// corners) / 20.
#pragma once

#include "rows/stencil.hpp"

namespace heddle::bench {

struct stencil9 : stencil<stencil9> {
  static constexpr const char* name = "stencil9";
  static constexpr std::size_t default_n = 1024, default_columns = 512, reach = 1;
  static constexpr bool solid = false;
  static constexpr double loads = 8;
  static double at(const double* p, std::ptrdiff_t, std::ptrdiff_t row) {
    const double sides = ((p[-row] + p[row]) + p[-1]) + p[1];
    const double corners = ((p[-row - 1] + p[-row + 1]) + p[row - 1]) + p[row + 1];
    return (4 * sides + corners) * 0.05;
  }
};

}  // namespace heddle::bench

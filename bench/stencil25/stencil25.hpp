// Twenty-five points in space, four to each side: "25P" and "25P-ir" of Chen and Guo, section 4.10 (rows/tree.hpp). The
// book does not give the formula. Here it is a step of the heat equation with central differences of eighth order, as
// codes for waves have them; the step is a sixteenth, below the limit of stability of about 0.1.
#pragma once

#include "rows/stencil.hpp"

namespace heddle::bench {

struct stencil25 : stencil<stencil25> {
  static constexpr const char* name = "stencil25";
  static constexpr std::size_t default_n = 256, default_columns = 64, reach = 4;
  static constexpr bool solid = true;
  static constexpr double loads = 25, step = 1.0 / 16;
  // The coefficients of the second derivative: of the point itself, and of those 1 to 4 away.
  static constexpr double of[5] = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
  static double at(const double* p, std::ptrdiff_t line, std::ptrdiff_t row) {
    double sum = 3 * of[0] * *p;
    for (std::ptrdiff_t k = 1; k <= 4; ++k)
      sum += of[k] * (((((p[-k * row] + p[k * row]) + p[-k * line]) + p[k * line]) + p[-k]) + p[k]);
    return *p + step * sum;
  }
};

}  // namespace heddle::bench

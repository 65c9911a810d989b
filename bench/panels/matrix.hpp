// A matrix by columns, and the products that factorisations are made of, in plain loops: a compiler's vectors are all
// the same to every runtime that is compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::bench_panels {

class matrix {
 public:
  matrix(int rows, int columns) : rows_(rows), columns_(columns), values_(static_cast<std::size_t>(rows) * columns) {}

  int rows() const noexcept { return rows_; }
  int columns() const noexcept { return columns_; }
  double* column(int j) noexcept { return values_.data() + static_cast<std::size_t>(j) * rows_; }
  const double* column(int j) const noexcept { return values_.data() + static_cast<std::size_t>(j) * rows_; }
  double& operator()(int i, int j) noexcept { return column(j)[i]; }
  double operator()(int i, int j) const noexcept { return column(j)[i]; }

  // Numbers from -0.5 to 0.5, the same each time; `diagonal` is added there.
  void fill(std::uint64_t seed, double diagonal) noexcept {
    std::uint64_t x = seed * 2 + 1;
    for (double& v : values_) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      v = static_cast<double>(x >> 11) / 9007199254740992.0 - 0.5;
    }
    for (int i = 0; i < std::min(rows_, columns_); ++i) (*this)(i, i) += diagonal;
  }

 private:
  int rows_, columns_;
  std::vector<double> values_;
};

// y += a x
inline void add_multiple(double* __restrict y, double a, const double* __restrict x, int n) noexcept {
  for (int i = 0; i < n; ++i) y[i] += a * x[i];
}

// y -= the sum of b_l times column l of A, of rows first to last - 1.
inline void subtract_products(double* __restrict y, const matrix& a, int first_column, const double* b, int count,
                              int first, int last) noexcept {
  int l = 0;
  for (; l + 4 <= count; l += 4) {
    const double b0 = b[l], b1 = b[l + 1], b2 = b[l + 2], b3 = b[l + 3];
    const double* __restrict a0 = a.column(first_column + l);
    const double* __restrict a1 = a.column(first_column + l + 1);
    const double* __restrict a2 = a.column(first_column + l + 2);
    const double* __restrict a3 = a.column(first_column + l + 3);
    for (int i = first; i < last; ++i) y[i] -= a0[i] * b0 + a1[i] * b1 + a2[i] * b2 + a3[i] * b3;
  }
  for (; l < count; ++l) {
    const double* __restrict a0 = a.column(first_column + l);
    const double b0 = b[l];
    for (int i = first; i < last; ++i) y[i] -= a0[i] * b0;
  }
}

inline double dot(const double* __restrict x, const double* __restrict y, int first, int last) noexcept {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = first; i < last; ++i) sum += x[i] * y[i];
  return sum;
}

}  // namespace heddle::bench_panels

// Cholesky decomposition of a symmetric positive definite n x n matrix of doubles, R^T R = A, in place in the upper
// half and cache-oblivious: factor the upper left quarter, solve the upper right one, update the lower right one,
// factor that. Bound by computation. One of the programs of Chen and Guo, section 3.8; dense here, where the Cilk
// distribution's is sparse. The factor is checked by solving a system with a known integer solution, as lu's.
#pragma once

#include <cmath>
#include <vector>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

inline constexpr std::size_t cholesky_block = 64;

// A block that is read and one that is updated; multiply-adds a cycle as measured for lu
// (docs/investigations/simulator.md).
inline void cholesky_tell(const double* block, std::size_t rows, std::size_t columns, std::size_t stride, bool updated,
                          double work) {
  told::rows({{block, columns * sizeof(double), stride * sizeof(double), updated ? 1 : 0}}, rows);
  told::cycles(work / 1.6);
}

inline void cholesky_leaf(double* a, std::size_t n, std::size_t stride) {
  if (told::model() != nullptr) [[unlikely]]
    cholesky_tell(a, n, n, stride, true, static_cast<double>(n * n * n) / 6);
  for (std::size_t k = 0; k < n; ++k) {
    double* __restrict const pivot = a + k * stride;
    pivot[k] = std::sqrt(pivot[k]);
    const double inverse = 1 / pivot[k];
    for (std::size_t j = k + 1; j < n; ++j) pivot[j] *= inverse;
    for (std::size_t i = k + 1; i < n; ++i) {
      double* __restrict const row = a + i * stride;
      const double factor = pivot[i];
      for (std::size_t j = i; j < n; ++j) row[j] -= factor * pivot[j];
    }
  }
}

// x := R^-T x, n x columns.
inline void cholesky_solve_leaf(const double* r, double* x, std::size_t n, std::size_t columns, std::size_t stride) {
  if (told::model() != nullptr) [[unlikely]] {
    cholesky_tell(r, n, n, stride, false, 0);
    cholesky_tell(x, n, columns, stride, true, static_cast<double>(n * n * columns) / 2);
  }
  for (std::size_t k = 0; k < n; ++k) {
    double* __restrict const solved = x + k * stride;
    const double inverse = 1 / r[k * stride + k];
    for (std::size_t j = 0; j < columns; ++j) solved[j] *= inverse;
    for (std::size_t i = k + 1; i < n; ++i) {
      double* __restrict const row = x + i * stride;
      const double factor = r[k * stride + i];
      for (std::size_t j = 0; j < columns; ++j) row[j] -= factor * solved[j];
    }
  }
}

// c -= a^T b, rows x columns. For a block on the diagonal only the upper half is used.
inline void cholesky_update_leaf(double* __restrict c, const double* a, const double* b, std::size_t rows,
                                 std::size_t columns, std::size_t inner, std::size_t stride) {
  if (told::model() != nullptr) [[unlikely]] {
    cholesky_tell(a, inner, rows, stride, false, 0);
    cholesky_tell(b, inner, columns, stride, false, 0);
    cholesky_tell(c, rows, columns, stride, true, static_cast<double>(rows * columns * inner));
  }
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < inner; ++k) {
      const double factor = a[k * stride + i];
      for (std::size_t j = 0; j < columns; ++j) c[i * stride + j] -= factor * b[k * stride + j];
    }
  }
}

template <class Backend>
struct cholesky_tasks {
  static void update(double* c, const double* a, const double* b, std::size_t rows, std::size_t columns,
                     std::size_t inner, std::size_t stride) {
    if (rows <= cholesky_block && columns <= cholesky_block && inner <= cholesky_block) {
      cholesky_update_leaf(c, a, b, rows, columns, inner, stride);
    } else if (rows >= columns && rows >= inner) {
      const std::size_t half = rows / 2;
      Backend::invoke([=] { update(c, a, b, half, columns, inner, stride); },
                      [=] { update(c + half * stride, a + half, b, rows - half, columns, inner, stride); });
    } else if (columns >= inner) {
      const std::size_t half = columns / 2;
      Backend::invoke([=] { update(c, a, b, rows, half, inner, stride); },
                      [=] { update(c + half, a, b + half, rows, columns - half, inner, stride); });
    } else {
      const std::size_t half = inner / 2;
      update(c, a, b, rows, columns, half, stride);
      update(c, a + half * stride, b + half * stride, rows, columns, inner - half, stride);
    }
  }

  // The upper half of c -= a^T a.
  static void update_diagonal(double* c, const double* a, std::size_t n, std::size_t inner, std::size_t stride) {
    if (n <= cholesky_block) return update(c, a, a, n, n, inner, stride);
    const std::size_t half = n / 2;
    Backend::invoke([=] { update_diagonal(c, a, half, inner, stride); },
                    [=] {
                      Backend::invoke(
                          [=] { update(c + half, a, a + half, half, n - half, inner, stride); },
                          [=] { update_diagonal(c + half * stride + half, a + half, n - half, inner, stride); });
                    });
  }

  static void solve(const double* r, double* x, std::size_t n, std::size_t columns, std::size_t stride) {
    if (n <= cholesky_block && columns <= cholesky_block) {
      cholesky_solve_leaf(r, x, n, columns, stride);
    } else if (columns >= n) {
      const std::size_t half = columns / 2;
      Backend::invoke([=] { solve(r, x, n, half, stride); }, [=] { solve(r, x + half, n, columns - half, stride); });
    } else {
      const std::size_t half = n / 2;
      double* const below = x + half * stride;
      solve(r, x, half, columns, stride);
      update(below, r + half, x, n - half, columns, half, stride);
      solve(r + half * stride + half, below, n - half, columns, stride);
    }
  }

  static void factor(double* a, std::size_t n, std::size_t stride) {
    if (n <= cholesky_block) return cholesky_leaf(a, n, stride);
    const std::size_t half = n / 2;
    double *const right = a + half, *const below = right + half * stride;
    factor(a, half, stride);
    solve(a, right, half, n - half, stride);
    update_diagonal(below, right, n - half, half, stride);
    factor(below, n - half, stride);
  }
};

struct cholesky {
  static constexpr std::size_t default_n = 1024;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  static std::vector<double> matrix(std::size_t n) {
    std::vector<double> a(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j)
        a[i * n + j] = a[j * n + i] = static_cast<double>(mix64(i * n + j) % 1024) / 1024;
      a[i * n + i] += static_cast<double>(n);
    }
    return a;
  }

  // Solves with the factor for the right side that belongs to x[i] = i % 7 + 1; millionths of what comes out.
  static std::uint64_t solved(const std::vector<double>& input, const std::vector<double>& r, std::size_t n) {
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) x[i] += input[i * n + j] * static_cast<double>(j % 7 + 1);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) x[i] -= r[j * n + i] * x[j];
      x[i] /= r[i * n + i];
    }
    digest d;
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = i + 1; j < n; ++j) x[i] -= r[i * n + j] * x[j];
      x[i] /= r[i * n + i];
      d.add(static_cast<std::uint64_t>(std::llround(x[i] * 1e6)));
    }
    return d.value();
  }

  template <class Backend>
  static void execute(context& c) {
    const std::size_t n = c.n();
    const std::vector<double> input = matrix(n);
    std::vector<double> r;
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3, [&] { r = input; }, [&] { cholesky_tasks<Backend>::factor(r.data(), n, n); },
          [&] { return solved(input, r, n); });
    });
  }
};

}  // namespace heddle::bench

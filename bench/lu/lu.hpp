// LU decomposition without pivoting of an n x n matrix of doubles, in place and cache-oblivious:
// factor the upper left quarter, solve the two sides in parallel, update the lower right quarter,
// recurse; sides of at most 64 are leaves. The parallelism shrinks towards the end: long critical
// path. Origin: the Cilk distribution's lu; Toledo 1997. The matrix is diagonally dominant; the
// factors are checked by solving a system with a known integer solution.
#pragma once

#include <cmath>

#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

inline constexpr std::size_t lu_block = 64;

// A block that a leaf updates, and one that it reads; `work`: multiply-adds.
inline void lu_tell(const double* updated, std::size_t rows, std::size_t columns, std::size_t stride, double work) {
  told::rows({{updated, columns * sizeof(double), stride * sizeof(double), 1}}, rows);
  told::cycles(work / 1.6);  // measured at n = 1024: docs/investigations/simulator.md
}
inline void lu_tell_read(const double* read, std::size_t rows, std::size_t columns, std::size_t stride) {
  told::rows({{read, columns * sizeof(double), stride * sizeof(double), 0}}, rows);
}

// All three leaves work on parts of one matrix with the given stride.
inline void lu_leaf(double* a, std::size_t n, std::size_t stride) {
  if (told::model() != nullptr) [[unlikely]]
    lu_tell(a, n, n, stride, static_cast<double>(n * n * n) / 3);
  for (std::size_t k = 0; k < n; ++k) {
    const double inverse = 1.0 / a[k * stride + k];
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * stride + k] *= inverse;
      double* __restrict const row = a + i * stride;
      const double* __restrict const pivot = a + k * stride;
      for (std::size_t j = k + 1; j < n; ++j) row[j] -= factor * pivot[j];
    }
  }
}

// x := L^-1 x, L unit lower triangular n x n, x n x columns.
inline void lower_leaf(const double* l, double* x, std::size_t n, std::size_t columns, std::size_t stride) {
  if (told::model() != nullptr) [[unlikely]] {
    lu_tell_read(l, n, n, stride);
    lu_tell(x, n, columns, stride, static_cast<double>(n * n * columns) / 2);
  }
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const double factor = l[i * stride + k];
      double* __restrict const row = x + i * stride;
      const double* __restrict const above = x + k * stride;
      for (std::size_t j = 0; j < columns; ++j) row[j] -= factor * above[j];
    }
  }
}

// x := x U^-1, U upper triangular n x n, x rows x n.
inline void upper_leaf(const double* u, double* x, std::size_t n, std::size_t rows, std::size_t stride) {
  if (told::model() != nullptr) [[unlikely]] {
    lu_tell_read(u, n, n, stride);
    lu_tell(x, rows, n, stride, static_cast<double>(n * n * rows) / 2);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    double* __restrict const row = x + i * stride;
    for (std::size_t k = 0; k < n; ++k) {
      const double* __restrict const from = u + k * stride;
      const double factor = row[k] /= from[k];
      for (std::size_t j = k + 1; j < n; ++j) row[j] -= factor * from[j];
    }
  }
}

// c -= a * b.
inline void schur_leaf(double* __restrict c, const double* __restrict a, const double* __restrict b, std::size_t rows,
                       std::size_t columns, std::size_t inner, std::size_t stride) {
  if (told::model() != nullptr) [[unlikely]] {
    lu_tell_read(b, inner, columns, stride);
    lu_tell_read(a, rows, inner, stride);
    lu_tell(c, rows, columns, stride, static_cast<double>(rows * columns * inner));
  }
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < inner; ++k) {
      const double factor = a[i * stride + k];
      for (std::size_t j = 0; j < columns; ++j) c[i * stride + j] -= factor * b[k * stride + j];
    }
  }
}

template <class Backend>
struct lu_tasks {
  static void schur(double* c, const double* a, const double* b, std::size_t rows, std::size_t columns,
                    std::size_t inner, std::size_t stride) {
    if (rows <= lu_block && columns <= lu_block && inner <= lu_block) {
      schur_leaf(c, a, b, rows, columns, inner, stride);
    } else if (rows >= columns && rows >= inner) {
      const std::size_t half = rows / 2;
      Backend::invoke([=] { schur(c, a, b, half, columns, inner, stride); },
                      [=] { schur(c + half * stride, a + half * stride, b, rows - half, columns, inner, stride); });
    } else if (columns >= inner) {
      const std::size_t half = columns / 2;
      Backend::invoke([=] { schur(c, a, b, rows, half, inner, stride); },
                      [=] { schur(c + half, a, b + half, rows, columns - half, inner, stride); });
    } else {
      const std::size_t half = inner / 2;
      schur(c, a, b, rows, columns, half, stride);
      schur(c, a + half, b + half * stride, rows, columns, inner - half, stride);
    }
  }

  static void lower(const double* l, double* x, std::size_t n, std::size_t columns, std::size_t stride) {
    if (n <= lu_block && columns <= lu_block) {
      lower_leaf(l, x, n, columns, stride);
    } else if (columns >= n) {
      const std::size_t half = columns / 2;
      Backend::invoke([=] { lower(l, x, n, half, stride); }, [=] { lower(l, x + half, n, columns - half, stride); });
    } else {
      const std::size_t half = n / 2;
      lower(l, x, half, columns, stride);
      schur(x + half * stride, l + half * stride, x, n - half, columns, half, stride);
      lower(l + half * stride + half, x + half * stride, n - half, columns, stride);
    }
  }

  static void upper(const double* u, double* x, std::size_t n, std::size_t rows, std::size_t stride) {
    if (n <= lu_block && rows <= lu_block) {
      upper_leaf(u, x, n, rows, stride);
    } else if (rows >= n) {
      const std::size_t half = rows / 2;
      Backend::invoke([=] { upper(u, x, n, half, stride); },
                      [=] { upper(u, x + half * stride, n, rows - half, stride); });
    } else {
      const std::size_t half = n / 2;
      upper(u, x, half, rows, stride);
      schur(x + half, x, u + half, rows, n - half, half, stride);
      upper(u + half * stride + half, x + half, n - half, rows, stride);
    }
  }

  static void factor(double* a, std::size_t n, std::size_t stride) {
    if (n <= lu_block) {
      lu_leaf(a, n, stride);
      return;
    }
    const std::size_t half = n / 2;
    double* const right = a + half;
    double* const below = a + half * stride;
    factor(a, half, stride);
    Backend::invoke([=] { lower(a, right, half, n - half, stride); }, [=] { upper(a, below, half, n - half, stride); });
    schur(below + half, below, right, n - half, n - half, half, stride);
    factor(below + half, n - half, stride);
  }
};

struct lu {
  static constexpr std::size_t default_n = 1024;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  // Solves with the factors for the right side that belongs to x[i] = i % 7 + 1; millionths of what
  // comes out.
  static std::uint64_t solve(const std::vector<double>& input, const std::vector<double>& factors, std::size_t n) {
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) x[i] += input[i * n + j] * static_cast<double>(j % 7 + 1);
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) x[i] -= factors[i * n + j] * x[j];
    }
    digest d;
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = i + 1; j < n; ++j) x[i] -= factors[i * n + j] * x[j];
      x[i] /= factors[i * n + i];
      d.add(static_cast<std::uint64_t>(std::llround(x[i] * 1e6)));
    }
    return d.value();
  }

  template <class Backend>
  static void execute(context& c) {
    const std::size_t n = c.n();
    std::vector<double> input(n * n), matrix;
    for (std::size_t i = 0; i < n * n; ++i) input[i] = static_cast<double>(mix64(i) % 1024) / 1024;
    for (std::size_t i = 0; i < n; ++i) input[i * n + i] += static_cast<double>(n);
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3, [&] { matrix = input; }, [&] { lu_tasks<Backend>::factor(matrix.data(), n, n); },
          [&] { return solve(input, matrix, n); });
    });
  }
};

}  // namespace heddle::bench

// The tiled Cholesky decomposition: outer parallelism by tasks with dependences, inner by the library.
#include <algorithm>
#include <atomic>
#include <limits>

#include "bench/blas/routines.hpp"
#include "bench/blas/vectors.hpp"

namespace heddle::bench_blas {

tiled_cholesky::tiled_cholesky(const library& lapack, int tiles, int tile_size)
    : lapack_(lapack), t_(tiles), b_(tile_size) {
  const std::size_t size = static_cast<std::size_t>(b_) * b_;
  before_.resize(static_cast<std::size_t>(t_) * t_);
  for (int row = 0; row < t_; ++row) {
    for (int column = 0; column <= row; ++column) {
      matrix& m = before_[static_cast<std::size_t>(row) * t_ + column];
      m = numbers(size, static_cast<unsigned>(row * t_ + column + 1));
      if (row != column) continue;
      // Of the tiles on the diagonal the lower half counts; this makes the whole matrix positive definite.
      for (int i = 0; i < b_; ++i) m[static_cast<std::size_t>(i) * b_ + i] += 2.0 * t_ * b_;
    }
  }
}

void tiled_cholesky::restore() {
  tiles_ = before_;
  failed_ = false;
}

void tiled_cholesky::compute(int inner) {
  const double one = 1, minus = -1;
  const int b = b_;
  const library& lapack = lapack_;
  std::atomic<bool> failed{false};
  // A task names the tiles that it reads or writes by the first number of each.
  for (int k = 0; k < t_; ++k) {
    double* const kk = tile(k, k);
#pragma omp task depend(inout : kk[0]) shared(failed, lapack) firstprivate(b)
    {
      int info = 0;
      lapack.set_threads_here(inner);
      lapack.potrf("L", &b, kk, &b, &info);
      if (info != 0) failed.store(true);
    }
    for (int i = k + 1; i < t_; ++i) {
      double* const ik = tile(i, k);
#pragma omp task depend(in : kk[0]) depend(inout : ik[0]) shared(lapack) firstprivate(b)
      {
        lapack.set_threads_here(inner);
        lapack.trsm("R", "L", "T", "N", &b, &b, &one, kk, &b, ik, &b);
      }
    }
    for (int i = k + 1; i < t_; ++i) {
      double* const ik = tile(i, k);
      double* const ii = tile(i, i);
#pragma omp task depend(in : ik[0]) depend(inout : ii[0]) shared(lapack) firstprivate(b)
      {
        lapack.set_threads_here(inner);
        lapack.syrk("L", "N", &b, &b, &minus, ik, &b, &one, ii, &b);
      }
      for (int j = k + 1; j < i; ++j) {
        double* const jk = tile(j, k);
        double* const ij = tile(i, j);
#pragma omp task depend(in : ik[0], jk[0]) depend(inout : ij[0]) shared(lapack) firstprivate(b)
        {
          lapack.set_threads_here(inner);
          lapack.gemm("N", "T", &b, &b, &b, &minus, ik, &b, jk, &b, &one, ij, &b);
        }
      }
    }
  }
#pragma omp taskwait
  failed_ = failed.load();
}

double tiled_cholesky::error() const {
  if (failed_) return std::numeric_limits<double>::infinity();
  const auto at = [&](const std::vector<matrix>& of, int row, int column) -> const matrix& {
    return of[static_cast<std::size_t>(row) * t_ + column];
  };
  const auto part_of = [&](const vector& v, int i) {
    return vector(v.begin() + static_cast<std::ptrdiff_t>(i) * b_, v.begin() + static_cast<std::ptrdiff_t>(i + 1) * b_);
  };
  const auto add = [&](vector& to, int i, const vector& v) {
    for (int k = 0; k < b_; ++k) to[static_cast<std::size_t>(i) * b_ + k] += v[k];
  };
  const vector x = numbers(static_cast<std::size_t>(t_) * b_, 7);
  vector across(x.size(), 0.0), result(x.size(), 0.0), expected(x.size(), 0.0);
  for (int i = 0; i < t_; ++i) {
    for (int j = 0; j <= i; ++j)
      add(across, j, transposed_times(at(tiles_, i, j), b_, part_of(x, i), i == j ? part::lower : part::all));
  }
  for (int i = 0; i < t_; ++i) {
    for (int j = 0; j <= i; ++j) {
      add(result, i, times(at(tiles_, i, j), b_, part_of(across, j), i == j ? part::lower : part::all));
      const matrix& m = at(before_, i, j);
      if (i != j) {
        add(expected, i, times(m, b_, part_of(x, j)));
        add(expected, j, transposed_times(m, b_, part_of(x, i)));
        continue;
      }
      add(expected, i, times(m, b_, part_of(x, i), part::lower));
      vector above = transposed_times(m, b_, part_of(x, i), part::lower);
      for (int d = 0; d < b_; ++d)  // the diagonal is in the lower half already
        above[d] -= m[static_cast<std::size_t>(d) * b_ + d] * x[static_cast<std::size_t>(i) * b_ + d];
      add(expected, i, above);
    }
  }
  return distance(result, expected);
}

double tiled_cholesky::operations() const {
  const double n = static_cast<double>(t_) * b_;
  return n * n * n / 3;
}

}  // namespace heddle::bench_blas

#include "bench/panels/factorisations.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::bench_panels {

// A task names the data that it reads or writes by a byte of its block column.
void factorisation::run(const matrix& of) {
  a_ = of;
  const int blocks = this->blocks();
  std::vector<char> marks(static_cast<std::size_t>(blocks));
  [[maybe_unused]] char* const column = marks.data();
#pragma omp parallel num_threads(s_.outer)
#pragma omp single
  for (int k = 0; k < blocks; ++k) {
#pragma omp task depend(inout : column[k]) priority(2) firstprivate(k)
    panel(k);
    for (int j = k + 1; j < blocks; ++j) {
#pragma omp task depend(in : column[k]) depend(inout : column[j]) priority(j == k + 1 ? 1 : 0) firstprivate(k, j)
      update(k, j);
    }
  }
}

namespace {

using numbers = std::vector<double>;

numbers some_vector(int n) {
  numbers x(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = 1.0 + (i * 7 % 11) / 11.0;
  return x;
}

// A x
numbers times(const matrix& a, const numbers& x) {
  numbers y(static_cast<std::size_t>(a.rows()));
  for (int j = 0; j < a.columns(); ++j) add_multiple(y.data(), x[static_cast<std::size_t>(j)], a.column(j), a.rows());
  return y;
}

// A^T x
numbers transposed_times(const matrix& a, const numbers& x) {
  numbers y(static_cast<std::size_t>(a.columns()));
  for (int j = 0; j < a.columns(); ++j) y[static_cast<std::size_t>(j)] = dot(a.column(j), x.data(), 0, a.rows());
  return y;
}

double difference(const numbers& a, const numbers& b) {
  double most = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (!(d <= most)) most = d;  // NaN, too
    size = std::max(size, std::abs(b[i]));
  }
  return most / size;
}

// The triangle of A above (or below) its diagonal as a matrix.
matrix triangle(const matrix& a, bool upper, bool unit) {
  matrix t(a.rows(), a.columns());
  for (int j = 0; j < a.columns(); ++j) {
    for (int i = 0; i < a.rows(); ++i) t(i, j) = (upper ? i < j : i > j) || (i == j && !unit) ? a(i, j) : 0;
    if (unit) t(j, j) = 1;
  }
  return t;
}

}  // namespace

// --- LU ------------------------------------------------------------------------------------------------------------

void lu::panel(int k) {
  const int begin = k * s_.block, end = begin + s_.block, n = s_.n;
  struct alignas(64) found {
    double size;
    int row;
  };
  std::vector<found> best(static_cast<std::size_t>(s_.inner));
  panel_barrier step(s_.inner, s_.how);
#pragma omp parallel num_threads(s_.inner)
  {
    const int me = omp_get_thread_num();
    const rows_of mine(begin, n, me, s_.inner, s_.tile);
    for (int j = begin; j < end; ++j) {
      double* const column = a_.column(j);
      found here{-1, j};
      for (int i = std::max(j, mine.first); i < mine.last; ++i) {
        if (std::abs(column[i]) > here.size) here = {std::abs(column[i]), i};
      }
      best[static_cast<std::size_t>(me)] = here;
      step.wait();
      if (me == 0) {
        for (const found& f : best) {
          if (f.size > here.size) here = f;
        }
        pivots_[static_cast<std::size_t>(j)] = here.row;
        for (int c = begin; c < end; ++c) std::swap(a_(j, c), a_(here.row, c));
      }
      step.wait();
      const int first = std::max(j + 1, mine.first);
      const double scale = 1 / column[j];
      for (int i = first; i < mine.last; ++i) column[i] *= scale;
      for (int c = j + 1; c < end; ++c) {
        if (first < mine.last) add_multiple(a_.column(c) + first, -a_(j, c), column + first, mine.last - first);
      }
      step.wait();
    }
  }
}

void lu::update(int k, int j) {
  const int begin = k * s_.block, end = begin + s_.block;
  for (int c = j * s_.block; c < (j + 1) * s_.block; ++c) {
    double* const column = a_.column(c);
    for (int i = begin; i < end; ++i) std::swap(column[i], column[pivots_[static_cast<std::size_t>(i)]]);
    for (int i = begin; i < end; ++i) add_multiple(column + i + 1, -column[i], a_.column(i) + i + 1, end - i - 1);
    subtract_products(column, a_, begin, column + begin, s_.block, end, s_.n);
  }
}

// Panels to the left do not contain the exchanges of rows of later panels.
double lu::error(const matrix& of) const {
  matrix f = a_;
  const int n = s_.n;
  for (int j = 0; j < n; ++j) {
    const int until = (j / s_.block + 1) * s_.block;
    for (int i = until; i < n; ++i) std::swap(f(i, j), f(pivots_[static_cast<std::size_t>(i)], j));
  }
  const numbers x = some_vector(n);
  numbers wanted = times(of, x);
  for (int i = 0; i < n; ++i)
    std::swap(wanted[static_cast<std::size_t>(i)],
              wanted[static_cast<std::size_t>(pivots_[static_cast<std::size_t>(i)])]);
  return difference(times(triangle(f, false, true), times(triangle(f, true, false), x)), wanted);
}

// --- QR ------------------------------------------------------------------------------------------------------------

// Column c of T holds, times tau, minus the products of reflection c with those before it, until they are multiplied
// with T itself.
void qr::panel(int k) {
  const int begin = k * s_.block, end = begin + s_.block, n = s_.n, threads = s_.inner;
  matrix sums(s_.block + 8, threads);  // columns are some lines apart
  std::vector<double> weights(static_cast<std::size_t>(s_.block));
  double tau = 0, scale = 0;
  panel_barrier step(threads, s_.how);
  const auto sum_of = [&](int c) {
    double sum = 0;
    for (int t = 0; t < threads; ++t) sum += sums(c, t);
    return sum;
  };
#pragma omp parallel num_threads(threads)
  {
    const int me = omp_get_thread_num();
    const rows_of mine(begin, n, me, threads, s_.tile);
    for (int j = begin; j < end; ++j) {
      double* const v = a_.column(j);
      const int first = std::max(j + 1, mine.first);
      sums(0, me) = dot(v, v, first, std::max(first, mine.last));
      step.wait();
      if (me == 0) {
        const double below = sum_of(0), alpha = v[j];
        const double beta = -std::copysign(std::sqrt(alpha * alpha + below), alpha);
        tau = below == 0 ? 0 : (beta - alpha) / beta;
        scale = below == 0 ? 0 : 1 / (alpha - beta);
        v[j] = below == 0 ? alpha : beta;
      }
      step.wait();
      for (int i = first; i < mine.last; ++i) v[i] *= scale;
      for (int c = begin; c < end; ++c) {
        if (c != j) sums(c - begin, me) = dot(v, a_.column(c), first, std::max(first, mine.last));
      }
      step.wait();
      if (me == 0) {
        for (int c = begin; c < end; ++c)
          if (c != j) weights[static_cast<std::size_t>(c - begin)] = sum_of(c - begin);
        const int at = j - begin;
        double* const column = t_.column(j);
        for (int i = 0; i < at; ++i) {
          double sum = 0;
          for (int l = i; l < at; ++l) {
            const double product = a_(j, begin + l) + weights[static_cast<std::size_t>(l)];
            sum += t_(i, begin + l) * product;
          }
          column[i] = -tau * sum;
        }
        column[at] = tau;
        for (int c = j + 1; c < end; ++c) {
          double& w = weights[static_cast<std::size_t>(c - begin)];
          w = tau * (w + a_(j, c));
          a_(j, c) -= w;
        }
      }
      step.wait();
      for (int c = j + 1; c < end; ++c) {
        if (first < mine.last)
          add_multiple(a_.column(c) + first, -weights[static_cast<std::size_t>(c - begin)], v + first,
                       mine.last - first);
      }
      step.wait();
    }
  }
}

// C -= V T^T V^T C, V being 1 on its diagonal and 0 above.
void qr::update(int k, int j) {
  const int begin = k * s_.block, b = s_.block, n = s_.n;
  numbers w(static_cast<std::size_t>(b)), y(static_cast<std::size_t>(b));
  for (int c = j * b; c < (j + 1) * b; ++c) {
    double* const column = a_.column(c);
    for (int l = 0; l < b; ++l)
      w[static_cast<std::size_t>(l)] = column[begin + l] + dot(a_.column(begin + l), column, begin + l + 1, n);
    for (int l = 0; l < b; ++l) y[static_cast<std::size_t>(l)] = dot(t_.column(begin + l), w.data(), 0, l + 1);
    for (int l = 0; l < b; ++l) {
      column[begin + l] -= y[static_cast<std::size_t>(l)];
      add_multiple(column + begin + l + 1, -y[static_cast<std::size_t>(l)], a_.column(begin + l) + begin + l + 1,
                   b - l - 1);
    }
    subtract_products(column, a_, begin, y.data(), b, begin + b, n);
  }
}

// R^T R against A^T A: reflections keep lengths and angles.
double qr::error(const matrix& of) const {
  const numbers x = some_vector(s_.n);
  const matrix r = triangle(a_, true, false);
  return difference(transposed_times(r, times(r, x)), transposed_times(of, times(of, x)));
}

// --- Cholesky ------------------------------------------------------------------------------------------------------

void cholesky::panel(int k) {
  const int begin = k * s_.block, end = begin + s_.block, n = s_.n;
  panel_barrier step(s_.inner, s_.how);
#pragma omp parallel num_threads(s_.inner)
  {
    const int me = omp_get_thread_num();
    const rows_of mine(begin, n, me, s_.inner, s_.tile);
    for (int j = begin; j < end; ++j) {
      double* const column = a_.column(j);
      if (me == 0) column[j] = std::sqrt(column[j]);
      step.wait();
      const int first = std::max(j + 1, mine.first);
      const double scale = 1 / column[j];
      for (int i = first; i < mine.last; ++i) column[i] *= scale;
      step.wait();
      for (int c = j + 1; c < end; ++c) {
        const int from = std::max(c, mine.first);
        if (from < mine.last) add_multiple(a_.column(c) + from, -column[c], column + from, mine.last - from);
      }
      step.wait();
    }
  }
}

// Updates the lower half alone.
void cholesky::update(int k, int j) {
  const int begin = k * s_.block, b = s_.block;
  numbers row(static_cast<std::size_t>(b));
  for (int c = j * b; c < (j + 1) * b; ++c) {
    for (int l = 0; l < b; ++l) row[static_cast<std::size_t>(l)] = a_(c, begin + l);
    subtract_products(a_.column(c), a_, begin, row.data(), b, c, s_.n);
  }
}

double cholesky::error(const matrix& of) const {
  const numbers x = some_vector(s_.n);
  const matrix l = triangle(a_, false, false);
  matrix whole = of;
  for (int j = 0; j < s_.n; ++j)
    for (int i = 0; i < j; ++i) whole(i, j) = of(j, i);
  return difference(times(l, transposed_times(l, x)), times(whole, x));
}

}  // namespace heddle::bench_panels

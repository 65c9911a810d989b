// C += A * B on square float matrices, cache-oblivious: the longest of the three sides is halved
// until all are at most 64; halves of rows or columns run in parallel, halves of the inner side one
// after the other. Origin: Frigo, Leiserson, Prokop, Ramachandran 1999; the Cilk distribution's
// rectmul. The entries are small integers, so every order of additions gives the same floats.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/placement.hpp"
#include "harness/random.hpp"
#include "harness/scale.hpp"

namespace heddle::bench {

inline constexpr std::size_t matmul_cutoff = 64;
// Of the loop below, a multiply-add (docs/investigations/heat2d-locality.md).
inline constexpr double matmul_cycles = 0.3;

inline void matmul_leaf(float* __restrict c, const float* __restrict a, const float* __restrict b, std::size_t rows,
                        std::size_t columns, std::size_t inner, std::size_t stride) {
  if (told::model() != nullptr) [[unlikely]] {
    // All three blocks lie in a second-level cache together; the inner loop runs over rows in the first.
    const std::size_t next = stride * sizeof(float);
    told::rows({{b, columns * sizeof(float), next, 0}}, inner);
    told::rows({{a, inner * sizeof(float), next, 0}, {c, columns * sizeof(float), next, 1}}, rows);
    told::cycles(static_cast<double>(rows * columns * inner) * (leaf_rate > 0 ? 1 / leaf_rate : matmul_cycles));
    if (told::only()) return;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < inner; ++k) {
      const float factor = a[i * stride + k];
      for (std::size_t j = 0; j < columns; ++j) c[i * stride + j] += factor * b[k * stride + j];
    }
  }
}

// Of a cut in two; bytes of the three blocks together.
inline hint matmul_hint(std::size_t first, std::size_t second, std::size_t rows, std::size_t columns,
                        std::size_t inner) {
  return {static_cast<double>(first), static_cast<double>(second),
          (rows * inner + inner * columns + rows * columns) * sizeof(float)};
}

template <class Backend>
void matmul_task(float* c, const float* a, const float* b, std::size_t rows, std::size_t columns, std::size_t inner,
                 std::size_t stride) {
  if (rows <= matmul_cutoff && columns <= matmul_cutoff && inner <= matmul_cutoff) {
    matmul_leaf(c, a, b, rows, columns, inner, stride);
  } else if (rows >= columns && rows >= inner) {
    const std::size_t half = rows / 2;
    invoke<Backend>(
        matmul_hint(half, rows - half, rows, columns, inner),
        [=] { matmul_task<Backend>(c, a, b, half, columns, inner, stride); },
        [=] { matmul_task<Backend>(c + half * stride, a + half * stride, b, rows - half, columns, inner, stride); });
  } else if (columns >= inner) {
    const std::size_t half = columns / 2;
    invoke<Backend>(
        matmul_hint(half, columns - half, rows, columns, inner),
        [=] { matmul_task<Backend>(c, a, b, rows, half, inner, stride); },
        [=] { matmul_task<Backend>(c + half, a, b + half, rows, columns - half, inner, stride); });
  } else {
    const std::size_t half = inner / 2;
    matmul_task<Backend>(c, a, b, rows, columns, half, stride);
    matmul_task<Backend>(c, a + half, b + half * stride, rows, columns, inner - half, stride);
  }
}

// The recursion of the ADWS thesis (figure 4.5). The inner side is cut first. The four quarters of C get the products
// of its first half, in parallel, then those of the second. So each level goes over C twice, and every task has two
// groups in a row. A group of four is a fork of forks that declare the bytes of all four, as the group would.
inline bool halves_to_leaves(std::size_t n) {
  const std::size_t leaf = scaled_side(matmul_cutoff, 16);
  while (n > leaf && n % 2 == 0) n /= 2;
  return n <= leaf;
}

template <class Backend>
void matmul_quarters(float* c, const float* a, const float* b, std::size_t n, std::size_t stride) {
  if (n <= scaled_side(matmul_cutoff, 16)) return matmul_leaf(c, a, b, n, n, n, stride);
  const std::size_t half = n / 2, down = half * stride;
  const hint equal{1, 1, 2 * n * n * sizeof(float)};  // all of C, half of A, half of B
  for (std::size_t k = 0; k < 2; ++k) {
    const float *left = a + k * half, *right = b + k * down;
    const auto quarter = [=](std::size_t i, std::size_t j) {
      return
          [=] { matmul_quarters<Backend>(c + i * down + j * half, left + i * down, right + j * half, half, stride); };
    };
    invoke<Backend>(
        equal, [=] { invoke<Backend>(equal, quarter(0, 0), quarter(1, 0)); },
        [=] { invoke<Backend>(equal, quarter(0, 1), quarter(1, 1)); });
  }
}

struct matmul {
  static constexpr std::size_t default_n = 1024;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    const std::size_t n = c.n();
    // The thesis's program on request: its recursion, and its padding
    // against rows that share cache sets, here a line or two.
    const bool quarters = c.chose("quarters");
    if (quarters && !halves_to_leaves(n))
      throw std::invalid_argument(
          "matmul --variant quarters takes 64, 128, 256 .. or another n that halves evenly to 64 or less");
    const std::size_t stride = quarters ? ((n + 15) / 16 | 1) * 16 + (n % 32 == 0 ? 0 : 32) : n;
    const touch how = touch_of(c.options().touch, touch::interleave);
    const placed_array<float> a(n * stride, how), b(n * stride, how), product(n * stride, how);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        a[i * stride + j] = static_cast<float>(mix64(i * n + j) % 5) - 2;
        b[i * stride + j] = static_cast<float>(mix64(n * n + i * n + j) % 5) - 2;
      }
    }
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          quarters ? "quarters" : "time", "ms", 1e3,
          [&] {
            settle(a, how);
            settle(b, how);
            settle(product, how);
            std::fill(product.begin(), product.end(), 0.0f);
          },
          [&] {
            if (quarters) matmul_quarters<Backend>(product.data(), a.data(), b.data(), n, stride);
            else matmul_task<Backend>(product.data(), a.data(), b.data(), n, n, n, stride);
          },
          [&] {
            digest d;
            for (std::size_t i = 0; i < n; ++i) {
              for (std::size_t j = 0; j < n; ++j)
                d.add(static_cast<std::uint64_t>(static_cast<std::int64_t>(product[i * stride + j])));
            }
            return d.value();
          });
    });
  }
};

}  // namespace heddle::bench

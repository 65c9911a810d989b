// Construction of a decision tree as the ADWS thesis prints it (algorithm 5.1, section 5.5.1). Rows consist of doubles,
// 232 bytes. At each node there is one parallel loop over the rows for each of the 28 attributes, then a partition into
// the other buffer, and then both sides in parallel. So consecutive loops over the same data lie inside an irregular
// recursion, which is the case that multi-level scheduling was made for. `decision_tree` is the same problem with a
// modern solution: it has an eighth of the bytes a row and one loop a node.
//
// The thesis does not define the intervals of the histogram and the smallest leaf. Here there are 128 intervals of
// equal width over values that a monotone map has brought into (-1, 1), divided with the cutoffs by --shrink, and a
// leaf has at least 20 rows. Rows have the form of HIGGS (decision_tree/generator.hpp).
// Counts are integers, the first best cut wins, and partitions keep the order, so every runtime makes the same tree.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "decision_tree/generator.hpp"
#include "harness/kernel.hpp"
#include "harness/partition.hpp"
#include "harness/placement.hpp"
#include "harness/random.hpp"
#include "harness/scale.hpp"
#include "harness/two_buffers.hpp"

namespace heddle::bench {

inline constexpr std::size_t cart_attributes = decision_tree::generated_features, cart_most_bins = 128;
inline constexpr std::size_t cart_recursion = 64 << 10, cart_piece = 256 << 10;  // bytes of rows
inline constexpr unsigned cart_depth = 17;
inline constexpr std::uint32_t cart_leaf_rows = 20;
// A row of one loop: its interval, and two counters in the first-level cache; a bin of the search for the best cut.
inline constexpr double cart_row_cycles = 4, cart_bin_cycles = 6;

// Rows become fewer with the caches, and so do the bins, which are a node's other cost.
inline std::size_t cart_bins() { return std::max<std::size_t>(cart_most_bins / shrink, 16); }

struct cart_row {
  double label;
  double of[cart_attributes];
};

struct cart_histogram {
  std::array<std::uint32_t, cart_most_bins> rows{}, positives{};

  cart_histogram& operator+=(const cart_histogram& other) {
    told::cycles(static_cast<double>(cart_bins()) / 4);
    for (std::size_t i = 0; i < cart_most_bins; ++i) rows[i] += other.rows[i], positives[i] += other.positives[i];
    return *this;
  }
};

struct cart_cut {
  double gain = 0;
  std::uint32_t attribute = 0, bin = 0;
};

// The node stands at nodes[border] of the cut, as in kdtree. If `rows` is 0, no node cuts there.
struct cart_node {
  std::uint32_t attribute, bin, rows, depth;
};

inline std::uint32_t cart_interval(double x) {
  return static_cast<std::uint32_t>((x + 1) * (static_cast<double>(cart_bins()) / 2));
}

template <class Backend>
cart_histogram cart_count(const cart_row* rows, std::size_t n, std::size_t attribute) {
  cart_histogram h;
  if (n * sizeof(cart_row) <= scaled_bytes(cart_piece) || n < 2) {
    told::rows({{&rows->label, sizeof(double), sizeof(cart_row), 0},
                {&rows->of[attribute], sizeof(double), sizeof(cart_row), 0}},
               n);
    told::cycles(cart_row_cycles * static_cast<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t at = cart_interval(rows[i].of[attribute]);
      ++h.rows[at];
      h.positives[at] += static_cast<std::uint32_t>(rows[i].label);
    }
    return h;
  }
  const std::size_t half = n / 2;
  cart_histogram upper;
  invoke<Backend>(
      hint{static_cast<double>(half), static_cast<double>(n - half), n * sizeof(cart_row)},
      [&, rows, half] { h = cart_count<Backend>(rows, half, attribute); },
      [&, rows, half, n] { upper = cart_count<Backend>(rows + half, n - half, attribute); });
  return h += upper;
}

// The least Gini impurity of both sides, by rows: with p of n rows positive on a side, sum of 2 p (n - p) / n.
inline void cart_search(const cart_histogram& h, std::uint32_t attribute, cart_cut& best) {
  const std::size_t bins = cart_bins();
  told::cycles(cart_bin_cycles * static_cast<double>(bins));
  double rows = 0, positives = 0;
  for (std::size_t i = 0; i < bins; ++i) rows += h.rows[i], positives += h.positives[i];
  const double all = 2 * positives * (rows - positives) / rows;
  double n = 0, p = 0;
  for (std::size_t i = 0; i + 1 < bins; ++i) {
    n += h.rows[i], p += h.positives[i];
    if (n < cart_leaf_rows || rows - n < cart_leaf_rows) continue;
    const double q = positives - p, m = rows - n;
    const double gain = all - 2 * p * (n - p) / n - 2 * q * (m - q) / m;
    if (gain > best.gain) best = {gain, attribute, static_cast<std::uint32_t>(i)};
  }
}

// Rows lie at `from`, positions `first` .. `first` + n of the whole.
template <class Backend>
void cart_task(cart_row* from, cart_row* other, cart_node* nodes, std::size_t first, std::size_t n, unsigned depth) {
  if (depth == cart_depth || n < 2 * cart_leaf_rows) return;
  cart_cut cut;
  for (std::uint32_t attribute = 0; attribute < cart_attributes; ++attribute) {
    cart_search(cart_count<Backend>(from, n, attribute), attribute, cut);
  }
  if (cut.gain < 1e-9 * static_cast<double>(n)) return;
  const std::size_t border =
      partition_into<Backend>(from, other, n, scaled_bytes(cart_piece),
                              [cut](const cart_row& r) { return cart_interval(r.of[cut.attribute]) <= cut.bin; });
  nodes[first + border] = {cut.attribute, cut.bin, static_cast<std::uint32_t>(n), depth};
  const auto lower = [=] { cart_task<Backend>(other, from, nodes, first, border, depth + 1); };
  const auto upper = [=] {
    cart_task<Backend>(other + border, from + border, nodes, first + border, n - border, depth + 1);
  };
  if (n * sizeof(cart_row) < scaled_bytes(cart_recursion)) {
    lower();
    upper();
  } else {
    invoke<Backend>(hint{static_cast<double>(border), static_cast<double>(n - border), 2 * n * sizeof(cart_row)}, lower,
                    upper);
  }
}

inline cart_row cart_generate(std::size_t i) {
  const decision_tree::generated_row made = decision_tree::generate_row(1, i);
  cart_row r{static_cast<double>(made.label), {}};
  for (std::size_t a = 0; a < cart_attributes; ++a) {
    const double x = static_cast<double>(made.features[a]);
    r.of[a] = x / (1 + std::abs(x));
  }
  return r;
}

struct cart {
  static constexpr std::size_t default_n = 100'000;  // 22 MiB, and as much for the other buffer
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    const std::size_t n = c.n();
    const two_buffers<cart_row> rows(c);
    const placed_array<cart_node> nodes(n + 1, rows.how);
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3,
          [&] {
            rows.template fill<Backend>(cart_piece, [&](std::size_t i) {
              nodes[i] = {};
              return cart_generate(i);
            });
            nodes[n] = {};
          },
          [&] { cart_task<Backend>(rows.from.data(), rows.other.data(), nodes.data(), 0, n, 0); },
          [&] {
            digest d;
            for (const cart_node& x : nodes) {
              if (x.rows == 0) continue;
              d.add(std::uint64_t{x.attribute} << 32 | x.bin);
              d.add(std::uint64_t{x.rows} << 32 | x.depth);
            }
            return d.value();
          });
    });
  }
};

}  // namespace heddle::bench

#include "histogram.hpp"

#include "../harness/cost.hpp"

#include <algorithm>

namespace heddle::bench::decision_tree {

namespace {

template <class Cell>
constexpr unsigned half = sizeof(Cell) * 4;

// The number of features as a constant lets every address be a register plus a constant: two instructions a value. The
// bound is then one read-modify-write of the first-level cache a cycle.
template <std::size_t Features>
void accumulate_fixed(std::size_t stride, std::uint8_t const* row, std::size_t count, narrow_cell* cells) {
  for (std::size_t i = 0; i < count; ++i, row += stride) {
    narrow_cell const one = 1 | static_cast<narrow_cell>(row[Features]) << half<narrow_cell>;
#pragma GCC unroll 32
    for (std::size_t feature = 0; feature < Features; ++feature) cells[feature * most_bins + row[feature]] += one;
  }
}

void accumulate_any(row_layout layout, std::uint8_t const* row, std::size_t count, narrow_cell* cells) {
  for (std::size_t i = 0; i < count; ++i, row += layout.stride) {
    narrow_cell const one = 1 | static_cast<narrow_cell>(row[layout.features]) << half<narrow_cell>;
    for (std::size_t feature = 0; feature < layout.features; ++feature)
      cells[feature * most_bins + row[feature]] += one;
  }
}

// Rows and rows of class 1 in bins 0..i, for the features' cells one by one.
struct prefix_sums {
  alignas(64) std::int32_t rows[most_bins];
  alignas(64) std::int32_t positives[most_bins];

  void fill(wide_cell const* cells) {
    wide_cell sum = 0;
    for (std::size_t i = 0; i < most_bins; ++i) {
      sum += cells[i];
      rows[i] = static_cast<std::int32_t>(sum & 0xffffffff);
      positives[i] = static_cast<std::int32_t>(sum >> half<wide_cell>);
    }
  }

  // Four cells at a time; small nodes spend more time here than in anything else.
  void fill(narrow_cell const* cells) {
    typedef narrow_cell four __attribute__((vector_size(16)));
    four const none = {};
    four before = {};
    for (std::size_t i = 0; i < most_bins; i += 4) {
      four x;
      __builtin_memcpy(&x, cells + i, sizeof(x));
      x += __builtin_shufflevector(none, x, 0, 4, 5, 6);
      x += __builtin_shufflevector(none, x, 0, 1, 4, 5);
      four const sum = x + before;
      before += __builtin_shufflevector(x, x, 3, 3, 3, 3);
      four const low = sum & 0xffffu;
      four const high = sum >> half<narrow_cell>;
      __builtin_memcpy(rows + i, &low, sizeof(low));
      __builtin_memcpy(positives + i, &high, sizeof(high));
    }
  }

  // First bin with at least that many rows in it and before it.
  [[nodiscard]] std::size_t reach(std::uint32_t count) const {
    std::size_t at = 0;
    for (std::size_t step = most_bins / 2; step != 0; step /= 2)
      at += rows[at + step - 1] < static_cast<std::int32_t>(count) ? step : 0;
    return at;
  }
};

// One array goes into another, element by element.
template <class From, class To>
void tell(From const* from, To const* to, std::size_t count, double cycles) {
  if (told::model() == nullptr) [[likely]]
    return;
  told::read(from, count * sizeof(From));
  told::write(to, count * sizeof(To));
  told::cycles(cycles * static_cast<double>(count));
}

template <class Score>
struct lanes {
  static constexpr std::size_t count = 16 / sizeof(Score);
  typedef Score score __attribute__((vector_size(16)));
  typedef std::int32_t integer __attribute__((vector_size(sizeof(std::int32_t) * count)));
};

// Bins [first, last) of one feature; all of them leave rows on both sides.
template <class Score>
void search(prefix_sums const& sums, std::size_t first, std::size_t last, std::uint32_t feature, row_counts node,
            split& best) {
  using vector = typename lanes<Score>::score;
  using integer = typename lanes<Score>::integer;
  constexpr std::size_t width = lanes<Score>::count;
  auto const all = static_cast<Score>(node.rows);
  auto const ones = static_cast<Score>(node.positives);
  vector high = {};
  vector high_at = {};
  vector at;
  for (std::size_t lane = 0; lane < width; ++lane) at[lane] = static_cast<Score>(first + lane);
  auto const score = [&](auto n, auto p) {
    auto const gain = p * all - ones * n;
    return gain * gain / (n * (all - n));
  };
  std::size_t i = first;
  for (; i + width <= last; i += width) {
    integer rows;
    integer positives;
    __builtin_memcpy(&rows, sums.rows + i, sizeof(rows));
    __builtin_memcpy(&positives, sums.positives + i, sizeof(positives));
    vector const s = score(__builtin_convertvector(rows, vector), __builtin_convertvector(positives, vector));
    auto const better = s > high;
    high = better ? s : high;
    high_at = better ? at : high_at;
    at += static_cast<Score>(width);
  }
  Score top = 0;
  std::size_t top_at = most_bins;
  auto const take = [&](Score s, std::size_t bin) {
    if (s > top || (s == top && bin < top_at)) {
      top = s;
      top_at = bin;
    }
  };
  for (std::size_t lane = 0; lane < width; ++lane) take(high[lane], static_cast<std::size_t>(high_at[lane]));
  for (; i < last; ++i) take(score(static_cast<Score>(sums.rows[i]), static_cast<Score>(sums.positives[i])), i);
  if (static_cast<double>(top) > best.score) {
    best.score = static_cast<double>(top);
    best.feature = feature;
    best.bin = static_cast<std::uint32_t>(top_at);
    best.left = {static_cast<std::uint32_t>(sums.rows[top_at]), static_cast<std::uint32_t>(sums.positives[top_at])};
  }
}

template <class Cell>
split best_of(Cell const* cells, std::size_t first_feature, std::size_t last_feature, row_counts node,
              std::uint32_t min_leaf) {
  split best;
  prefix_sums sums;
  std::uint32_t const least = std::max(min_leaf, 1u);
  if (node.rows < 2 * least) return best;
  if (told::model() != nullptr) [[unlikely]] {
    std::size_t const bins = (last_feature - first_feature) * most_bins;
    told::read(cells + first_feature * most_bins, bins * sizeof(Cell));
    told::cycles(4 * static_cast<double>(bins));
  }
  for (std::size_t feature = first_feature; feature < last_feature; ++feature) {
    sums.fill(cells + feature * most_bins);
    // A small node has most of its bins outside this range.
    std::size_t const first = sums.reach(least);
    std::size_t const last = sums.reach(node.rows - least + 1);
    if (first >= last) continue;
    if (node.rows <= single_rows) {
      search<float>(sums, first, last, static_cast<std::uint32_t>(feature), node, best);
    } else {
      search<double>(sums, first, last, static_cast<std::uint32_t>(feature), node, best);
    }
  }
  return best;
}

}  // namespace

void accumulate(row_layout layout, std::uint8_t const* rows, std::size_t count, narrow_cell* cells) {
  if (told::model() != nullptr) [[unlikely]] {
    told::read(rows, count * layout.stride);
    told::write(cells, layout.features * most_bins * sizeof(*cells));
    told::cycles(static_cast<double>(count * layout.features));
  }
  if (layout.features == 28) {
    accumulate_fixed<28>(layout.stride, rows, count, cells);
  } else {
    accumulate_any(layout, rows, count, cells);
  }
}

void add(wide_cell* to, wide_cell const* from, std::size_t count) {
  tell(from, to, count, 0.5);
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
}

void add(wide_cell* to, narrow_cell const* from, std::size_t count) {
  tell(from, to, count, 1);
  for (std::size_t i = 0; i < count; ++i) to[i] += (from[i] & 0xffff) | static_cast<wide_cell>(from[i] >> 16) << 32;
}

void subtract(wide_cell* from, wide_cell const* what, std::size_t count) {
  tell(what, from, count, 0.5);
  for (std::size_t i = 0; i < count; ++i) from[i] -= what[i];
}

void subtract(wide_cell* from, narrow_cell const* what, std::size_t count) {
  tell(what, from, count, 1);
  for (std::size_t i = 0; i < count; ++i) from[i] -= (what[i] & 0xffff) | static_cast<wide_cell>(what[i] >> 16) << 32;
}

void subtract(narrow_cell* from, narrow_cell const* what, std::size_t count) {
  tell(what, from, count, 0.25);
  for (std::size_t i = 0; i < count; ++i) from[i] -= what[i];
}

void narrow(narrow_cell* to, wide_cell const* from, std::size_t count) {
  tell(from, to, count, 1);
  for (std::size_t i = 0; i < count; ++i)
    to[i] = static_cast<narrow_cell>(from[i] & 0xffff) | static_cast<narrow_cell>(from[i] >> 32) << 16;
}

split best_split(narrow_cell const* cells, std::size_t first_feature, std::size_t last_feature, row_counts node,
                 std::uint32_t min_leaf) {
  return best_of(cells, first_feature, last_feature, node, min_leaf);
}

split best_split(wide_cell const* cells, std::size_t first_feature, std::size_t last_feature, row_counts node,
                 std::uint32_t min_leaf) {
  return best_of(cells, first_feature, last_feature, node, min_leaf);
}

}  // namespace heddle::bench::decision_tree

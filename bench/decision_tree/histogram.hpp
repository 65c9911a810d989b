// Counts of rows and of class 1 by feature and bin, and the search for the best cut in them.
//
// One cell holds both counts, the rows in its low half and those of class 1 in its high half: one addition counts a
// row, and sums and differences of cells are sums and differences of both halves, which never borrow from each other.
// Cells are integers, so the order in which partial histograms are combined cannot be seen in the result.
#pragma once

#include "binning.hpp"

#include <cstddef>
#include <cstdint>

namespace heddle::bench::decision_tree {

using narrow_cell = std::uint32_t;  // up to narrow_rows rows
using wide_cell = std::uint64_t;    // up to 2^31 rows
inline constexpr std::size_t narrow_rows = 65535;
inline constexpr std::size_t most_rows = std::size_t{1} << 31;

// A histogram is cell_count(layout) cells: most_bins for feature 0, then for feature 1, ...
[[nodiscard]] inline std::size_t cell_count(row_layout layout) { return layout.features * most_bins; }

// Adds `count` rows, count <= narrow_rows.
void accumulate(row_layout layout, std::uint8_t const* rows, std::size_t count, narrow_cell* cells);

void add(wide_cell* to, wide_cell const* from, std::size_t count);
void add(wide_cell* to, narrow_cell const* from, std::size_t count);
void subtract(wide_cell* from, wide_cell const* what, std::size_t count);
void subtract(wide_cell* from, narrow_cell const* what, std::size_t count);
void subtract(narrow_cell* from, narrow_cell const* what, std::size_t count);
void narrow(narrow_cell* to, wide_cell const* from, std::size_t count);

// Rows of a node, in all and of class 1.
struct row_counts {
  std::uint32_t rows = 0;
  std::uint32_t positives = 0;

  [[nodiscard]] bool pure() const { return positives == 0 || positives == rows; }
  friend row_counts operator-(row_counts a, row_counts b) { return {a.rows - b.rows, a.positives - b.positives}; }
};

// A cut: rows whose bin of `feature` is at most `bin` go left.
struct split {
  double score = 0;  // 0 means that no cut gains anything
  std::uint32_t feature = 0;
  std::uint32_t bin = 0;
  row_counts left;
};

// The cut with the least Gini impurity, weighted by rows, of those that leave at least `min_leaf` rows on both sides;
// the first by feature, then bin, among equals. With N rows of which P of class 1, n and p of them left, the impurity
// falls by 2/N^2 * (pN - Pn)^2 / (n (N - n)); the score is that without the constant. Everything but its square and
// quotient is exact. Nodes of up to single_rows rows are scored in single precision, whichever cells they have.
[[nodiscard]] split best_split(narrow_cell const* cells, std::size_t first_feature, std::size_t last_feature,
                               row_counts node, std::uint32_t min_leaf);
[[nodiscard]] split best_split(wide_cell const* cells, std::size_t first_feature, std::size_t last_feature,
                               row_counts node, std::uint32_t min_leaf);
inline constexpr std::uint32_t single_rows = 2048;

}  // namespace heddle::bench::decision_tree

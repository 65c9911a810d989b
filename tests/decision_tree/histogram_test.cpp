#include "bench/decision_tree/histogram.hpp"

#include "bench/decision_tree/partition.hpp"
#include "bench/harness/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace heddle::bench::decision_tree {
namespace histogram_test {
namespace {

struct made_rows {
  row_layout layout;
  std::vector<std::uint8_t> bytes;
  std::size_t count;

  made_rows(std::size_t features, std::size_t rows, std::uint64_t seed)
      : layout(features), bytes(rows * layout.stride), count(rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t feature = 0; feature < features; ++feature) {
        auto const bits = mix64(seed + row * 4096 + feature);
        bytes[row * layout.stride + feature] =
            static_cast<std::uint8_t>(feature % 3 == 0 ? bits : bits % (feature + 2));
      }
      bytes[row * layout.stride + features] = mix64(seed ^ row) % 3 == 0 || bytes[row * layout.stride] > 200;
    }
  }
  [[nodiscard]] std::uint8_t at(std::size_t row, std::size_t column) const {
    return bytes[row * layout.stride + column];
  }
  [[nodiscard]] row_counts counts() const {
    row_counts all;
    for (std::size_t row = 0; row < count; ++row) {
      ++all.rows;
      all.positives += at(row, layout.features);
    }
    return all;
  }
  [[nodiscard]] std::vector<narrow_cell> cells() const {
    std::vector<narrow_cell> made(cell_count(layout), 0);
    accumulate(layout, bytes.data(), count, made.data());
    return made;
  }
};

// The special case of 28 features, the general one, and the most rows a narrow cell holds.
TEST(histogram, counts_rows_and_positives) {
  for (auto const& [features, count] :
       {std::pair<std::size_t, std::size_t>{28, 1000}, {5, 1000}, {28, narrow_rows}, {1, 3}, {40, 500}}) {
    made_rows const rows(features, count, 5);
    std::vector<narrow_cell> const cells = rows.cells();
    std::vector<narrow_cell> expected(cells.size(), 0);
    for (std::size_t row = 0; row < count; ++row) {
      for (std::size_t feature = 0; feature < features; ++feature)
        expected[feature * most_bins + rows.at(row, feature)] += 1 + 65536u * rows.at(row, features);
    }
    ASSERT_EQ(cells, expected) << features << " features";
  }
}

TEST(histogram, adds_and_subtracts_both_halves) {
  constexpr std::size_t size = 3;
  std::vector<narrow_cell> const small{5 | 2u << 16, 0, 65535 | 65535u << 16};
  std::vector<wide_cell> wide(size, 0);
  for (int i = 0; i < 3; ++i) add(wide.data(), small.data(), size);
  EXPECT_EQ(wide, (std::vector<wide_cell>{15 | wide_cell{6} << 32, 0, 3 * 65535 | wide_cell{3 * 65535} << 32}));
  std::vector<wide_cell> const once{5 | wide_cell{2} << 32, 0, 65535 | wide_cell{65535} << 32};
  subtract(wide.data(), once.data(), size);
  subtract(wide.data(), small.data(), size);
  EXPECT_EQ(wide, once);
  std::vector<narrow_cell> back(size);
  narrow(back.data(), wide.data(), size);
  EXPECT_EQ(back, small);
  add(wide.data(), once.data(), size);
  EXPECT_EQ(wide[2], 2 * 65535 | wide_cell{2 * 65535} << 32);
  subtract(back.data(), small.data(), size);
  EXPECT_EQ(back, std::vector<narrow_cell>(size, 0));
}

double gini(double rows, double positives) { return rows == 0 ? 0 : 2 * positives / rows * (1 - positives / rows); }

// Impurity as the textbook has it, at every cut.
TEST(best_split, has_the_least_gini_impurity) {
  for (std::size_t count : {50u, 700u, 2048u, 2049u, 9000u}) {
    made_rows const rows(7, count, count);
    std::vector<narrow_cell> const cells = rows.cells();
    std::vector<wide_cell> wide(cells.size(), 0);
    add(wide.data(), cells.data(), cells.size());
    row_counts const all = rows.counts();
    for (std::uint32_t min_leaf : {1u, 20u}) {
      split const found = best_split(cells.data(), 0, 7, all, min_leaf);
      ASSERT_GT(found.score, 0);
      split const same = best_split(wide.data(), 0, 7, all, min_leaf);
      EXPECT_EQ(same.score, found.score);
      EXPECT_EQ(same.feature, found.feature);
      EXPECT_EQ(same.bin, found.bin);

      auto const impurity = [&](std::size_t feature, std::size_t bin) {
        row_counts left;
        for (std::size_t row = 0; row < count; ++row) {
          if (rows.at(row, feature) > bin) continue;
          ++left.rows;
          left.positives += rows.at(row, 7);
        }
        row_counts const right = all - left;
        if (left.rows < min_leaf || right.rows < min_leaf) return 1.0;
        return (left.rows * gini(left.rows, left.positives) + right.rows * gini(right.rows, right.positives)) /
               all.rows;
      };
      double const least = impurity(found.feature, found.bin);
      EXPECT_LT(least, gini(all.rows, all.positives));
      for (std::size_t feature = 0; feature < 7; ++feature) {
        for (std::size_t bin = 0; bin < most_bins; ++bin)
          ASSERT_GE(impurity(feature, bin), least - 1e-7) << feature << " " << bin;
      }
      EXPECT_GE(found.left.rows, min_leaf);
      EXPECT_EQ(found.left.rows, count_left(rows.layout, rows.bytes.data(), count, found));
    }
  }
}

TEST(best_split, takes_the_first_of_equal_cuts) {
  row_layout const layout(2);
  std::vector<narrow_cell> cells(cell_count(layout), 0);
  // Two features that say the same; bins 3 and 9 with nothing between.
  for (std::size_t feature : {0u, 1u}) {
    cells[feature * most_bins + 3] = 10;
    cells[feature * most_bins + 9] = 10 | 10u << 16;
  }
  split const found = best_split(cells.data(), 0, 2, {20, 10}, 1);
  EXPECT_EQ(found.feature, 0u);
  EXPECT_EQ(found.bin, 3u);
  EXPECT_EQ(found.left.rows, 10u);
  EXPECT_EQ(found.left.positives, 0u);
}

TEST(best_split, finds_nothing_where_no_cut_gains) {
  std::vector<narrow_cell> cells(most_bins, 0);
  cells[1] = 10 | 5u << 16;
  cells[2] = 20 | 10u << 16;
  EXPECT_EQ(best_split(cells.data(), 0, 1, {30, 15}, 1).score, 0);  // the same share on both sides
  cells[2] = 20 | 1u << 16;
  EXPECT_GT(best_split(cells.data(), 0, 1, {30, 6}, 10).score, 0);
  EXPECT_EQ(best_split(cells.data(), 0, 1, {30, 6}, 11).score, 0);  // a leaf would be too small
  std::fill(cells.begin(), cells.end(), 0);
  cells[255] = 30 | 6u << 16;
  EXPECT_EQ(best_split(cells.data(), 0, 1, {30, 6}, 1).score, 0);  // one value
}

TEST(partition, keeps_order_and_loses_no_row) {
  for (std::size_t features : {28u, 3u, 40u}) {
    for (std::uint32_t bin : {0u, 60u, 128u, 255u}) {
      made_rows const rows(features, 1000, 9);
      std::size_t const stride = rows.layout.stride;
      split cut;
      cut.feature = features > 3 ? 3 : 0;
      cut.bin = bin;
      std::vector<std::uint8_t> left;
      std::vector<std::uint8_t> right;
      for (std::size_t row = 0; row < rows.count; ++row) {
        auto const from = rows.bytes.begin() + static_cast<std::ptrdiff_t>(row * stride);
        auto& side = rows.at(row, cut.feature) <= bin ? left : right;
        side.insert(side.end(), from, from + static_cast<std::ptrdiff_t>(stride));
      }
      EXPECT_EQ(count_left(rows.layout, rows.bytes.data(), rows.count, cut) * stride, left.size());
      std::vector<std::uint8_t> got_left(left.size() + 1, 123);
      std::vector<std::uint8_t> got_right(right.size() + 1, 123);
      scatter(rows.layout, rows.bytes.data(), rows.count, cut, got_left.data(), got_right.data());
      left.push_back(123);
      right.push_back(123);
      EXPECT_EQ(got_left, left);
      EXPECT_EQ(got_right, right);
    }
  }
}

}  // namespace
}  // namespace histogram_test
}  // namespace heddle::bench::decision_tree

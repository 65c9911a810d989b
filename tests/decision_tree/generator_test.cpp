#include "bench/decision_tree/generator.hpp"

#include "bench/harness/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace heddle::bench::decision_tree {
namespace generator_test {
namespace {

std::uint64_t hash_of_rows(std::uint64_t seed, std::uint64_t count) {
  digest sum;
  for (std::uint64_t row = 0; row < count; ++row) {
    generated_row const made = generate_row(seed, row);
    for (float value : made.features) sum.add(std::bit_cast<std::uint32_t>(value));
    sum.add(made.label);
  }
  return sum.value();
}

// Figures measured on the default data stay comparable only while this holds, on every platform and compiler.
TEST(generator, makes_the_same_rows_everywhere) {
  EXPECT_EQ(hash_of_rows(1, 1000), 0x7f639437fb64aef8u);
  EXPECT_EQ(hash_of_rows(2, 1000), 0xb65c177c4ab33961u);
}

TEST(generator, does_not_depend_on_how_the_rows_are_divided) {
  dataset whole;
  whole.resize(1000, generated_features);
  generate_rows(7, 0, 1000, whole);
  dataset pieces;
  pieces.resize(1000, generated_features);
  for (std::size_t first : {600u, 0u, 200u, 800u, 400u}) generate_rows(7, first, first + 200, pieces);
  EXPECT_EQ(pieces.columns, whole.columns);
  EXPECT_EQ(pieces.labels, whole.labels);
  EXPECT_EQ(pieces.columns[3][777], generate_row(7, 777).features[3]);
}

TEST(generator, makes_two_classes_of_like_size_and_finite_varied_features) {
  constexpr std::size_t rows = 20000;
  dataset data;
  data.resize(rows, generated_features);
  generate_rows(3, 0, rows, data);
  auto const ones = static_cast<double>(std::count(data.labels.begin(), data.labels.end(), 1)) / rows;
  EXPECT_GT(ones, 0.35);
  EXPECT_LT(ones, 0.65);
  for (auto const& column : data.columns) {
    EXPECT_TRUE(std::all_of(column.begin(), column.end(), [](float value) { return std::isfinite(value); }));
    EXPECT_GE(std::set<float>(column.begin(), column.end()).size(), 3u);
  }
}

}  // namespace
}  // namespace generator_test
}  // namespace heddle::bench::decision_tree

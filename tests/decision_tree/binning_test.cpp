#include "bench/decision_tree/binning.hpp"

#include "bench/harness/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace heddle::bench::decision_tree {
namespace binning_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::size_t used(feature_cuts const& cuts) {
  return static_cast<std::size_t>(std::find(cuts.begin(), cuts.end(), infinity) - cuts.begin());
}

std::vector<float> random_values(std::size_t count, std::uint64_t seed, int kind) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto const bits = mix64(seed * 1000003 + i);
    auto const unit = static_cast<float>(bits >> 40) / static_cast<float>(1 << 24);
    switch (kind) {
      case 0: values[i] = unit; break;
      case 1: values[i] = 1000.0f + unit / 16; break;               // many cuts share the upper half of their bits
      case 2: values[i] = (unit - 0.5f) / (1.0001f - unit); break;  // both signs, heavy tail
      case 3: values[i] = static_cast<float>(bits % 5) - 2.0f; break;
      default: values[i] = bits % 3 == 0 ? unit : bits % 2 == 0 ? -0.0f : 0.0f; break;  // half in one place
    }
  }
  return values;
}

TEST(cuts, give_each_of_few_values_its_own_bin) {
  std::vector<float> sample{3, 1, 1, 2, 3, 3, 1};
  feature_cuts const cuts = find_cuts(sample, most_bins);
  ASSERT_EQ(used(cuts), 2u);
  EXPECT_EQ(cuts[0], 1.5f);
  EXPECT_EQ(cuts[1], 2.5f);
}

TEST(cuts, separate_neighbouring_floats) {
  float const next = std::nextafter(1.0f, 2.0f);
  std::vector<float> sample{1, next};
  feature_cuts const cuts = find_cuts(sample, most_bins);
  ASSERT_EQ(used(cuts), 1u);
  EXPECT_LE(1.0f, cuts[0]);
  EXPECT_GT(next, cuts[0]);

  float const big = std::numeric_limits<float>::max();
  sample = {-big, big};
  EXPECT_EQ(find_cuts(sample, most_bins)[0], 0.0f);
}

TEST(cuts, are_none_for_a_constant) {
  std::vector<float> sample(100, 4.5f);
  EXPECT_EQ(used(find_cuts(sample, most_bins)), 0u);
}

TEST(cuts, divide_evenly) {
  std::vector<float> sample(16384);
  for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = static_cast<float>(i);
  feature_cuts const cuts = find_cuts(sample, 16);
  ASSERT_EQ(used(cuts), 15u);
  for (std::size_t i = 0; i < 15; ++i) EXPECT_NEAR(cuts[i], 1024.0f * static_cast<float>(i + 1), 2.0f);
}

TEST(cuts, leave_room_for_the_rest_beside_a_heavy_value) {
  std::vector<float> sample(10000, 0.0f);
  for (std::size_t i = 0; i < 5000; ++i) sample[i] = 1.0f + static_cast<float>(i);
  feature_cuts const cuts = find_cuts(sample, 64);
  EXPECT_GE(used(cuts), 55u);
  EXPECT_EQ(cuts[0], 0.5f);  // nothing shares the bin of the heavy value
  EXPECT_LT(cuts[1], 1000.0f);
}

TEST(quantiser, agrees_with_counting_the_cuts_below) {
  for (int kind = 0; kind < 5; ++kind) {
    for (std::size_t bins : {2u, 7u, 100u, 256u}) {
      std::vector<float> sample = random_values(5000, 1, kind);
      feature_cuts const cuts = find_cuts(sample, bins);
      EXPECT_LT(used(cuts), bins);
      EXPECT_TRUE(std::is_sorted(cuts.begin(), cuts.end()));
      auto const made = std::make_unique<quantiser>(cuts);
      std::vector<float> values = random_values(1003, 2, kind);
      for (float cut : cuts) {
        if (cut == infinity) break;
        values.push_back(cut);
        values.push_back(std::nextafter(cut, infinity));
        values.push_back(std::nextafter(cut, -infinity));
      }
      for (float edge :
           {0.0f, -0.0f, 1e-40f, -1e-40f, std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()})
        values.push_back(edge);
      std::vector<std::uint8_t> out(values.size() * 3, 99);
      made->apply(values.data(), values.size(), out.data(), 3);
      for (std::size_t i = 0; i < values.size(); ++i) {
        auto const expected = std::count_if(cuts.begin(), cuts.end(), [&](float cut) { return cut < values[i]; });
        ASSERT_EQ(out[i * 3], expected) << "kind " << kind << " bins " << bins << " value " << values[i];
        ASSERT_EQ(out[i * 3 + 1], 99);
      }
    }
  }
}

TEST(binned_rows, hold_bins_label_and_padding) {
  dataset data;
  data.resize(1500, 3);
  for (std::size_t row = 0; row < data.rows(); ++row) {
    data.columns[0][row] = static_cast<float>(row % 2);
    data.columns[1][row] = static_cast<float>(row % 7);
    data.columns[2][row] = 5;
    data.labels[row] = row % 3 == 0;
  }
  serial_executor run;
  row_layout const layout(3);
  EXPECT_EQ(layout.stride, 16u);
  EXPECT_EQ(row_layout(28).stride, 32u);
  std::vector<std::uint8_t> rows(data.rows() * layout.stride, 77);
  bin_rows(run, data, find_all_cuts(run, data, most_bins), layout, rows.data(), 512);
  for (std::size_t row = 0; row < data.rows(); ++row) {
    std::uint8_t const* const at = rows.data() + row * layout.stride;
    ASSERT_EQ(at[0], row % 2);
    ASSERT_EQ(at[1], row % 7);
    ASSERT_EQ(at[2], 0);
    ASSERT_EQ(at[3], row % 3 == 0);
    for (std::size_t i = 4; i < 16; ++i) ASSERT_EQ(at[i], 0);
  }
}

}  // namespace
}  // namespace binning_test
}  // namespace heddle::bench::decision_tree

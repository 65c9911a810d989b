#include "bench/driver/statistics.hpp"

#include <gtest/gtest.h>

namespace heddle::bench {
namespace statistics_test {
namespace {

row made(const char* runtime, unsigned workers, std::vector<double> samples, const char* unit = "ns",
         std::size_t n = 35) {
  return {"fib", runtime, "", workers, n, "ns_per_spawn", unit, std::move(samples), true};
}

TEST(median, of_odd_even_one_and_none) {
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({}), 0);
}

TEST(median, is_not_moved_by_one_outlier) { EXPECT_EQ(median({10, 11, 1e9, 12, 9}), 11); }

TEST(ratios, compare_with_the_fastest_rival_of_the_same_workers) {
  const std::vector<row> rows{made("serial", 1, {2}), made("heddle", 1, {4}), made("heddle", 2, {3}),
                              made("tbb", 1, {100}),  made("rayon", 1, {8}),  made("rayon", 2, {6})};
  ASSERT_NE(best_rival(rows[1], rows), nullptr);
  EXPECT_EQ(best_rival(rows[1], rows)->runtime, "rayon");
  EXPECT_EQ(ratio_to_best_rival(rows[1], rows), 0.5);
  EXPECT_EQ(ratio_to_best_rival(rows[2], rows), 0.5);
  EXPECT_EQ(ratio_to_serial(rows[1], rows), 2);
  EXPECT_EQ(ratio_to_serial(rows[2], rows), 1.5);
  EXPECT_EQ(ratio_to_best_rival(rows[3], rows), 12.5);
}

TEST(ratios, leave_out_the_floor_and_serial) {
  const std::vector<row> rows{made("serial", 1, {2}), made("heddle", 1, {4}), made("futex", 1, {1})};
  EXPECT_EQ(best_rival(rows[1], rows), nullptr);
  EXPECT_FALSE(ratio_to_best_rival(rows[1], rows).has_value());
}

TEST(ratios, of_other_sizes_only_per_operation) {
  const std::vector<row> per_operation{made("heddle", 1, {4}), made("boost_fiber", 1, {400}, "ns", 20)};
  EXPECT_EQ(ratio_to_best_rival(per_operation[0], per_operation), 0.01);
  const std::vector<row> whole{made("heddle", 1, {4}, "ms"), made("boost_fiber", 1, {400}, "ms", 20)};
  EXPECT_FALSE(ratio_to_best_rival(whole[0], whole).has_value());
}

}  // namespace
}  // namespace statistics_test
}  // namespace heddle::bench

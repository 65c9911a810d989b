#include "bench/driver/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::bench {
namespace table_test {
namespace {

const std::vector<row> rows{{"fib", "serial", "", 1, 35, "ns_per_spawn", "ns", {2, 2, 2}, true},
                            {"fib", "heddle", "random_ws", 1, 35, "ns_per_spawn", "ns", {4, 3, 5}, true},
                            {"fib", "tbb", "", 1, 32, "ns_per_spawn", "ns", {80, 100, 90}, false}};

TEST(figure, has_four_digits) {
  EXPECT_EQ(figure(0.1234567), "0.1235");
  EXPECT_EQ(figure(3.14159), "3.142");
  EXPECT_EQ(figure(31.4159), "31.42");
  EXPECT_EQ(figure(314.159), "314.2");
  EXPECT_EQ(figure(31415.9), "31416");
}

TEST(table, is_aligned_and_shows_ratios_and_wrong_results) {
  EXPECT_EQ(table(rows),
            "kernel  metric         n  runtime  policy     workers  median    min    max  unit  / "
            "best rival  / serial  result\n"
            "fib     ns_per_spawn  35  serial   -                1   2.000  2.000  2.000  ns       "
            "   0.0222     1.000  ok\n"
            "fib     ns_per_spawn  35  heddle   random_ws        1   4.000  3.000  5.000  ns       "
            "   0.0444     2.000  ok\n"
            "fib     ns_per_spawn  32  tbb      -                1   90.00  80.00  100.0  ns       "
            "    1.000     45.00  WRONG\n");
}

TEST(json, has_the_fields_of_a_row) {
  const auto j = to_json(rows[1]);
  EXPECT_EQ(j.at("kernel"), "fib");
  EXPECT_EQ(j.at("runtime"), "heddle");
  EXPECT_EQ(j.at("policy"), "random_ws");
  EXPECT_EQ(j.at("workers"), 1);
  EXPECT_EQ(j.at("n"), 35);
  EXPECT_EQ(j.at("metric"), "ns_per_spawn");
  EXPECT_EQ(j.at("unit"), "ns");
  EXPECT_EQ(j.at("median"), 4.0);
  EXPECT_EQ(j.at("min"), 3.0);
  EXPECT_EQ(j.at("max"), 5.0);
  EXPECT_EQ(j.at("checked"), true);
  EXPECT_EQ(j.at("samples").size(), 3u);
}

}  // namespace
}  // namespace table_test
}  // namespace heddle::bench

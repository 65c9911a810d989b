#include "bench/driver/collect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/driver/measures.hpp"

namespace heddle::bench {
namespace collect_test {
namespace {

class collect_rows : public testing::Test {
 protected:
  program serial_{"serial", "", "", "", {}};
  program ours_{"heddle", "", "", "", {}};
  program fiber_{"boost_fiber", "", "", "", {}};
  std::vector<job> jobs_{{&serial_, "fib", "", 1, 35, false},
                         {&ours_, "fib", "", 2, 35, false},
                         {&fiber_, "fib", "", 2, 20, false},
                         {&serial_, "fib", "", 1, 20, true}};

  static metric_line line(std::vector<double> samples, const char* checksum) {
    return {"ns_per_spawn", "ns", std::move(samples), checksum};
  }
};

TEST_F(collect_rows, samples_of_all_processes_are_joined) {
  const std::vector<std::vector<metric_line>> outputs{
      {line({2, 3}, "a"), line({4}, "a")}, {line({1}, "a")}, {line({9}, "b")}, {line({1}, "b")}};
  const collected all = collect(jobs_, outputs);
  EXPECT_TRUE(all.wrong.empty());
  ASSERT_EQ(all.rows.size(), 3u);  // none for the reference
  EXPECT_THAT(all.rows[0].samples, testing::ElementsAre(2, 3, 4));
  for (const row& r : all.rows) EXPECT_TRUE(r.checked) << r.runtime;
}

TEST_F(collect_rows, one_wrong_result_marks_the_row) {
  const std::vector<std::vector<metric_line>> outputs{
      {line({2}, "a")}, {line({1}, "a"), line({1}, "x")}, {line({9}, "b")}, {line({1}, "b")}};
  const collected all = collect(jobs_, outputs);
  ASSERT_EQ(all.wrong.size(), 1u);
  EXPECT_THAT(all.wrong[0], testing::AllOf(testing::HasSubstr("heddle"), testing::HasSubstr("result x"),
                                           testing::HasSubstr("serial has a")));
  EXPECT_FALSE(all.rows[1].checked);
  EXPECT_TRUE(all.rows[2].checked);
}

TEST_F(collect_rows, the_result_of_another_size_does_not_count) {
  const std::vector<std::vector<metric_line>> outputs{
      {line({2}, "a")}, {line({1}, "a")}, {line({9}, "a")}, {line({1}, "b")}};
  EXPECT_FALSE(collect(jobs_, outputs).rows[2].checked);
}

TEST_F(collect_rows, what_serial_never_gave_is_wrong) {
  const std::vector<std::vector<metric_line>> outputs{{}, {line({1}, "a")}, {}, {}};
  const collected all = collect(jobs_, outputs);
  ASSERT_EQ(all.wrong.size(), 1u);
  EXPECT_THAT(all.wrong[0], testing::HasSubstr("serial has none"));
}

TEST_F(collect_rows, a_result_without_a_time_gives_no_row) {
  const std::vector<std::vector<metric_line>> outputs{{line({}, "a")}, {line({1}, "a")}, {}, {}};
  const collected all = collect(jobs_, outputs);
  ASSERT_EQ(all.rows.size(), 1u);
  EXPECT_EQ(all.rows[0].runtime, "heddle");
  EXPECT_TRUE(all.rows[0].checked);
}

row timed(const char* runtime, const char* kernel, const char* metric, unsigned workers, double value,
          bool checked = true) {
  std::size_t n = 0;
  for (const measure& m : measures) {
    if (m.kernel == kernel) n = m.n;
  }
  return {kernel, runtime, "", workers, n, metric, "ns", {value}, checked};
}

std::string line_of(const std::string& text, const std::string& begin) {
  const auto at = text.find(begin);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

TEST(measures, compare_with_what_is_to_be_reached) {
  const std::vector<row> rows{timed("heddle", "fib", "ns_per_spawn", 1, 3), timed("rayon", "fib", "ns_per_spawn", 1, 9),
                              timed("heddle", "skynet", "time", 2, 100),
                              timed("heddle", "nqueens", "time", 2, 1, false)};
  const std::string text = measures_table(rows);
  EXPECT_THAT(line_of(text, "fork-join, fib"),
              testing::AllOf(testing::HasSubstr("9.000 rayon"), testing::HasSubstr("reached")));
  EXPECT_THAT(line_of(text, "skynet"), testing::HasSubstr("missed"));
  EXPECT_THAT(line_of(text, "nqueens"), testing::HasSubstr("missed")) << "a wrong result reaches nothing";
  EXPECT_THAT(line_of(text, "loop of 2"),
              testing::Not(testing::AnyOf(testing::HasSubstr("missed"), testing::HasSubstr("reached"))));
}

TEST(measures, are_of_one_size) {
  std::vector<row> rows{timed("heddle", "skynet", "time", 2, 1)};
  EXPECT_THAT(line_of(measures_table(rows), "skynet"), testing::HasSubstr("reached"));
  rows[0].n = 1000;
  EXPECT_THAT(line_of(measures_table(rows), "skynet"), testing::Not(testing::HasSubstr("reached")));
}

TEST(measures, of_the_floor_need_the_floor) {
  std::vector<row> rows{timed("heddle", "rendezvous", "idle20", 2, 12)};
  EXPECT_THAT(line_of(measures_table(rows), "rendezvous after"), testing::HasSubstr("missed"));
  rows.push_back(timed("futex", "rendezvous", "idle20", 2, 10));
  EXPECT_THAT(line_of(measures_table(rows), "rendezvous after"), testing::HasSubstr("reached"));
  rows[1].samples = {9};
  EXPECT_THAT(line_of(measures_table(rows), "rendezvous after"), testing::HasSubstr("missed"));
}

TEST(measures, from_main_is_compared_with_its_twin) {
  std::vector<row> rows{timed("heddle", "fib", "ns_per_spawn from main", 1, 2.3)};
  EXPECT_THAT(line_of(measures_table(rows), "fib, from main"), testing::HasSubstr("missed"));
  rows.push_back(timed("heddle", "fib", "ns_per_spawn", 1, 2));
  EXPECT_THAT(line_of(measures_table(rows), "fib, from main"),
              testing::AllOf(testing::HasSubstr("2.400"), testing::HasSubstr("reached")));
  rows[1].samples = {1};
  EXPECT_THAT(line_of(measures_table(rows), "fib, from main"), testing::HasSubstr("missed"));
}

TEST(measures, a_graph_of_the_rivals_own_counts_as_its_wavefront) {
  const std::vector<row> rows{timed("heddle", "wavefront", "counters", 1, 10),
                              timed("tbb", "wavefront", "counters", 1, 50), timed("tbb", "wavefront", "graph", 1, 40)};
  EXPECT_THAT(line_of(measures_table(rows), "wavefront"), testing::HasSubstr("40.00 tbb"));
}

}  // namespace
}  // namespace collect_test
}  // namespace heddle::bench

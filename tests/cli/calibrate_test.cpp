// The file that heddle calibrate writes is read, and its figures must be positive and in order. No figure is compared
// with a time. The conclusions from measurements are tested with figures made up.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/calibrate/measure.hpp"
#include "machine/limits.hpp"
#include "machine/model.hpp"
#include "tests/cli/captured.hpp"

namespace heddle::cli {
namespace calibrate_test {
namespace {

using ::testing::HasSubstr;

class calibrate_file : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new std::filesystem::path(std::filesystem::path(::testing::TempDir()) / "heddle_calibrate");
    std::filesystem::remove_all(*folder_);
    std::filesystem::create_directories(*folder_);
    output_ = new captured(run_captured({"calibrate", "--quick", "--keep-unstable", "-o", file()}));
  }
  static void TearDownTestSuite() {
    std::filesystem::remove_all(*folder_);
    delete folder_;
    delete output_;
  }
  static std::string file() { return (*folder_ / "box.toml").string(); }

  static std::filesystem::path* folder_;
  static captured* output_;
};

std::filesystem::path* calibrate_file::folder_;
captured* calibrate_file::output_;

TEST_F(calibrate_file, writes_a_file_that_is_read) {
  ASSERT_EQ(output_->status, 0) << output_->err;
  EXPECT_THAT(output_->out, HasSubstr("box.toml"));
  const machine::model m = machine::model::from_name(file());
  EXPECT_EQ(m.name, "box");
  EXPECT_FALSE(m.tree.is_this_machine());  // the tree came along
  EXPECT_EQ(m.tree.units().size(), machine::topology::here().units().size());
  EXPECT_GT(m.frequency, 0);
  EXPECT_GE(m.overlap, 1u);
  double before = 0;
  for (const machine::cache_level& level : m.caches) {
    EXPECT_GT(level.latency, 0);
    EXPECT_GE(level.latency, before);
    before = level.latency;
  }
  for (const machine::memory_node& n : m.nodes) {
    EXPECT_GE(n.latency, before);
    EXPECT_GT(n.bandwidth, 0);
  }
  for (const machine::cost_key& cost : machine::cost_keys()) EXPECT_GT(m.costs.*cost.member, 0) << cost.name;
  // The file names each value that is a default, with its reason, and no other value is missing.
  for (const std::string& line : m.assumed) EXPECT_THAT(line, HasSubstr(": "));
  EXPECT_THAT(m.assumed, ::testing::Contains(HasSubstr("costs.steal_per_level: not measured")));
}

TEST_F(calibrate_file, the_file_beside_the_tree_completes_it) {
  const machine::model m = machine::model::from_name((*folder_ / "box.xml").string());
  EXPECT_EQ(m.frequency, machine::model::from_name(file()).frequency);
}

TEST_F(calibrate_file, measures_costs_here) {
  const machine::model m = machine::model::from_name(file());
  for (const char* key : {"costs.spawn", "costs.thread_switch", "costs.signal", "costs.clock"}) {
    EXPECT_THAT(m.assumed, ::testing::Not(::testing::Contains(HasSubstr(std::string(key) + ": not measured")))) << key;
  }
}

TEST_F(calibrate_file, measures_what_goes_from_core_to_core) {
  const machine::topology& here = machine::topology::here();
  const std::vector<int> mask = machine::affinity_mask();
  const auto other = std::find_if(mask.begin(), mask.end(),
                                  [&](int unit) { return here.unit(unit)->core != here.unit(mask.front())->core; });
  if (other == mask.end()) GTEST_SKIP() << "one core";
  const std::string table = calibrate::where_they_meet(here, mask.front(), *other);
  const machine::model m = machine::model::from_name(file());
  for (const char* what : {".transfer", ".upgrade"}) {
    const auto found = std::find_if(m.figures.begin(), m.figures.end(),
                                    [&](const machine::figure& f) { return f.key == table + what; });
    ASSERT_NE(found, m.figures.end()) << table << what;
    EXPECT_EQ(found->from, machine::figure::origin::measured) << table << what;
  }
}

TEST(calibrate_transfers, are_told_where_two_cores_meet) {
  const auto tree = machine::topology::from_synthetic("package:2 numa:1 l3:2 l2:2 core:2 pu:1");
  EXPECT_EQ(calibrate::where_they_meet(tree, 0, 1), "cache.l2");
  EXPECT_EQ(calibrate::where_they_meet(tree, 0, 2), "cache.l3");
  EXPECT_EQ(calibrate::where_they_meet(tree, 1, 5), "memory");
  EXPECT_EQ(calibrate::where_they_meet(tree, 9, 2), "links");
}

TEST(calibrate_rounds, a_figure_is_the_median) {
  calibrate::rounds all;
  for (const double latency : {11.0, 104.0, 11.4, 11.2, 11.1}) all.add({{"cache.l3.latency", latency}});
  EXPECT_EQ(all.medians().at("cache.l3.latency"), 11.2);
  EXPECT_THAT(all.unstable(), ::testing::IsEmpty());  // one round in five was disturbed
}

TEST(calibrate_rounds, what_differs_is_told_with_its_figures) {
  calibrate::rounds all;
  for (const double latency : {12.8, 116.8, 12.9, 104.0, 90.0})
    all.add({{"cache.l3.latency", latency}, {"frequency", 3.7}});
  EXPECT_THAT(all.unstable(),
              ::testing::ElementsAre("cache.l3.latency: not stable, 12.9 to 104 in the middle half of 5 rounds"));
}

TEST(calibrate_rounds, of_a_slower_clock_do_not_count) {
  calibrate::rounds all;
  for (const double clock : {1.63, 2.89, 1.64, 2.91, 2.88}) all.add({{"cache.l1.latency", 4.2 / clock}}, clock);
  EXPECT_EQ(all.all(), 5u);
  EXPECT_EQ(all.count(), 3u);
  EXPECT_THAT(all.kept(), ::testing::ElementsAre(1, 3, 4));
  EXPECT_DOUBLE_EQ(all.medians().at("cache.l1.latency"), 4.2 / 2.89);
  EXPECT_THAT(all.unstable(), ::testing::IsEmpty());
  all.add({{"cache.l1.latency", 1}}, 4);
  EXPECT_EQ(all.count(), 1u) << "the fastest one so far says what is slow";
}

TEST(calibrate_rounds, what_few_rounds_have_is_not_measured) {
  calibrate::rounds all;
  for (const double steal : {300.0, 310.0}) all.add({{"costs.steal", steal}});
  for (int i = 0; i < 2; ++i) all.add({});
  EXPECT_THAT(all.medians(), ::testing::IsEmpty());
}

TEST(calibrate_capacity, ends_where_the_memory_answers) {
  const std::size_t mb = std::size_t{1} << 20;
  const calibrate::latency_curve curve = {{mb / 2, 4.0},    {mb, 6.0},      {3 * mb / 2, 11.0}, {2 * mb, 11.3},
                                          {5 * mb / 2, 20}, {3 * mb, 60.0}, {4 * mb, 95.0},     {64 * mb, 100.0}};
  EXPECT_EQ(calibrate::usable_capacity(curve, mb, 32 * mb), 5 * mb / 2);  // 20 < sqrt(11 x 100) < 60
  EXPECT_EQ(calibrate::usable_capacity(curve, mb, 2 * mb), 2 * mb);       // no more than the tree says
}

TEST(calibrate_capacity, of_a_cache_that_others_have_filled_is_little) {
  const std::size_t mb = std::size_t{1} << 20;
  for (const double own : {99.0, 204.0}) {
    const calibrate::latency_curve curve = {{mb, 8.0}, {3 * mb / 2, own}, {2 * mb, 101.0}, {64 * mb, 102.0}};
    EXPECT_LE(calibrate::usable_capacity(curve, mb, 32 * mb), 2 * mb);
  }
}

TEST(calibrate_capacity, is_told_in_whole_sets) {
  for (const std::size_t ways : {8, 11, 12, 16, 20}) {
    const std::size_t set = ways * 64;
    for (const std::size_t bytes : {100'000, 2'293'760, 2'424'832, 50'331'648}) {
      const std::size_t told = calibrate::whole_sets(bytes, set);
      EXPECT_EQ(told % set, 0u) << ways;
      EXPECT_LE(told, bytes);
      EXPECT_GT(told + 70'000, bytes);
    }
  }
  EXPECT_EQ(calibrate::whole_sets(2'424'832, 0) % 65536, 0u);
  EXPECT_EQ(calibrate::whole_sets(100, 768), 65280u) << "one at least";
}

TEST(calibrate_command, refuses_in_one_line) {
  expect_refused(run_captured({"calibrate", "-o", "box.xml"}), {"box.xml", ".toml"});
  expect_refused(run_captured({"calibrate", "--quick", "-o", "/absent/box.toml"}),
                 {"--output", "there is no folder '/absent'"});
}

}  // namespace
}  // namespace calibrate_test
}  // namespace heddle::cli

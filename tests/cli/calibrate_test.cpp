// The file that heddle calibrate writes: it is read, and its figures
// are positive and in order. No figure is compared with a time.
#include <filesystem>
#include <fstream>

#include "machine/model.hpp"
#include "tests/cli/captured.hpp"

namespace heddle::cli {
namespace {

using ::testing::HasSubstr;

class calibrate : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new std::filesystem::path(std::filesystem::path(::testing::TempDir()) / "heddle_calibrate");
    std::filesystem::remove_all(*folder_);
    std::filesystem::create_directories(*folder_);
    output_ = new captured(run_captured({"calibrate", "--quick", "-o", file()}));
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

std::filesystem::path* calibrate::folder_;
captured* calibrate::output_;

TEST_F(calibrate, writes_a_file_that_is_read) {
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
  // What is by default is said in the file, with its reason, and nothing else is missing.
  for (const std::string& line : m.assumed) EXPECT_THAT(line, HasSubstr(": "));
  EXPECT_THAT(m.assumed, ::testing::Contains(HasSubstr("costs.steal_per_level: not measured")));
}

TEST_F(calibrate, the_file_beside_the_tree_completes_it) {
  const machine::model m = machine::model::from_name((*folder_ / "box.xml").string());
  EXPECT_EQ(m.frequency, machine::model::from_name(file()).frequency);
}

TEST_F(calibrate, measures_costs_here) {
  const machine::model m = machine::model::from_name(file());
  for (const char* key : {"costs.spawn", "costs.thread_switch", "costs.signal", "costs.clock"}) {
    EXPECT_THAT(m.assumed, ::testing::Not(::testing::Contains(HasSubstr(std::string(key) + ":")))) << key;
  }
}

TEST(calibrate_command, refuses_in_one_line) {
  expect_refused(run_captured({"calibrate", "-o", "box.xml"}), {"box.xml", ".toml"});
  expect_refused(run_captured({"calibrate", "--quick", "-o", "/absent/box.toml"}),
                 {"--output", "there is no folder '/absent'"});
}

}  // namespace
}  // namespace heddle::cli

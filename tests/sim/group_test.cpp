// `heddle group` from end to end: a program is recorded, its tasks are grouped, and it runs by the groups.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "support/shell.hpp"
#include "support/simulated.hpp"

namespace group_test {
namespace {

namespace fs = std::filesystem;
using heddle::process::ended;
using nlohmann::json;

constexpr const char* machine = "opteron-8380-4x4";

class group_of_program : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_SIMULATOR(program("cells"));
    folder_ = fs::temp_directory_path() / ("heddle-group-test-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    const ended help = heddle_test::shell(HEDDLE_COMMAND " group --help");
    if (help.output.find("without METIS") != std::string::npos) GTEST_SKIP() << "built without METIS";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string program(const std::string& name) {
    return (fs::path(HEDDLE_COMMAND).parent_path() / "tests" / "sim_programs" / name).string();
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] static std::string text_of(const std::string& name) {
    std::ifstream in(name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Of a run on the machine, its figures; null where it failed.
  [[nodiscard]] json simulated(const std::string& policy, const std::string& arguments) const {
    const std::string out = file("figures.json");
    const ended e =
        heddle_test::shell(HEDDLE_COMMAND " sim --no-serial --machine " + std::string(machine) + " --policy " + policy +
                           " --json " + out + " -- " + program("cells") + arguments + " 2>&1");
    EXPECT_EQ(e.status, 0) << e.output;
    return e.status == 0 ? json::parse(text_of(out))[0] : json();
  }
  static double last_misses(const json& of) { return of["levels"].back()["misses"].get<double>(); }

 private:
  fs::path folder_;
};

TEST_F(group_of_program, its_tasks_share_within_groups_and_miss_less) {
  const ended made =
      heddle_test::shell(HEDDLE_COMMAND " group --machine " + std::string(machine) + " --save-profile " +
                         file("profile") + " -o " + file("grouping") + " -- " + program("cells") + " 24 2 2>&1");
  ASSERT_EQ(made.status, 0) << made.output;
  EXPECT_NE(made.output.find("site 0: 576 tasks"), std::string::npos) << made.output;
  EXPECT_NE(made.output.find("HEDDLE_POLICY=grouped:file="), std::string::npos) << made.output;

  // Each cell touches six blocks of 64 lines, or parts of a line more at their ends.
  const std::string profile = text_of(file("profile"));
  EXPECT_EQ(profile.substr(0, profile.find('\n')), "heddle-profile 1");
  EXPECT_NE(profile.find("site 0 tasks 576"), std::string::npos);
  EXPECT_EQ(profile.find("site 1"), std::string::npos);

  // The same profile gives the same grouping.
  const ended again = heddle_test::shell(HEDDLE_COMMAND " group --machine " + std::string(machine) + " --profile " +
                                         file("profile") + " -o " + file("grouping2") + " 2>&1");
  ASSERT_EQ(again.status, 0) << again.output;
  EXPECT_EQ(text_of(file("grouping")), text_of(file("grouping2")));

  const json random = simulated("random_ws", " 24 6");
  const json off = simulated("grouped:steal=off,file=" + file("grouping"), " 24 6");
  const json near = simulated("grouped:file=" + file("grouping"), " 24 6");
  ASSERT_FALSE(random.is_null() || off.is_null() || near.is_null());
  EXPECT_LT(last_misses(off), 0.8 * last_misses(random));
  EXPECT_LT(last_misses(near), 0.9 * last_misses(random));
}

TEST_F(group_of_program, what_children_fork_counts_for_them) {
  const std::string record = std::string(HEDDLE_COMMAND " group --machine ") + machine;
  for (const char* how : {"flat", "deep"}) {
    const ended e = heddle_test::shell(record + " --save-profile " + file(how) + " -- " + program("cells") + " 8 2 " +
                                       how + " 2>&1");
    ASSERT_EQ(e.status, 0) << e.output;
  }
  EXPECT_EQ(text_of(file("flat")), text_of(file("deep")));
  EXPECT_NE(text_of(file("flat")).find("site 0 tasks 64"), std::string::npos);
}

TEST_F(group_of_program, a_grouping_of_another_machine_is_refused) {
  const std::string grouping = file("grouping");
  const ended made = heddle_test::shell(HEDDLE_COMMAND " group --machine xeon-x7560-4x8 -o " + grouping + " -- " +
                                        program("cells") + " 8 1 2>&1");
  ASSERT_EQ(made.status, 0) << made.output;
  const ended run = heddle_test::shell(HEDDLE_COMMAND " sim --no-serial --machine " + std::string(machine) +
                                       " --policy grouped:file=" + grouping + " -- " + program("cells") + " 8 1 2>&1");
  EXPECT_NE(run.status, 0);
  EXPECT_NE(run.output.find("is for 32 workers of xeon-x7560-4x8"), std::string::npos) << run.output;
}

TEST_F(group_of_program, one_without_groups_is_refused) {
  const ended e = heddle_test::shell(HEDDLE_COMMAND " group --machine " + std::string(machine) + " -o " +
                                     file("grouping") + " -- " + program("loop") + " 2>&1");
  EXPECT_EQ(e.status, 2) << e.output;
  EXPECT_NE(e.output.find("told no accesses of children of a group"), std::string::npos) << e.output;
}

}  // namespace
}  // namespace group_test

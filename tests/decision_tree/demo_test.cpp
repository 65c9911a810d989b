// The command as a user starts it. Skipped where the programs it starts are not built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "support/shell.hpp"

#if defined(HEDDLE_COMMAND)

namespace demo_test {
namespace {

using heddle::process::ended;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ended demo(std::string const& options) { return heddle_test::shell(HEDDLE_COMMAND " demo " + options); }
ended demo_errors(std::string const& options) {
  return heddle_test::shell(HEDDLE_COMMAND " demo " + options + " 2>&1 >/dev/null");
}

class demo_command : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::path const command = HEDDLE_COMMAND;
    std::filesystem::path const programs = command.parent_path() / "libexec" / "heddle";
    for (auto const& path : {command, programs / "heddle-tree-serial", programs / "heddle-tree-heddle"}) {
      if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not built";
    }
    folder_ = std::filesystem::temp_directory_path() / ("heddle_demo_" + std::to_string(std::random_device{}()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string write(std::string const& name, std::string const& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  std::filesystem::path folder_;
};

TEST_F(demo_command, compares_runtimes_on_generated_rows) {
  std::string const json = (folder_ / "figures.json").string();
  ended const done = demo("--rows 20000 --repeat 2 --workers 2 --json " + json);
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_THAT(done.output,
              AllOf(HasSubstr("18000 training rows of 28 features"), HasSubstr("serial"), HasSubstr("heddle"),
                    HasSubstr("same tree"), Not(HasSubstr(" NO")), Not(HasSubstr("warning"))));
  std::stringstream text;
  text << std::ifstream(json).rdbuf();
  for (char const* part : {"\"kernel\": \"decision_tree\"", "\"runtime\": \"heddle\"", "\"runtime\": \"serial\"",
                           "\"checked\": true", "\"machine\"", "\"date\"", "\"samples\""}) {
    EXPECT_THAT(text.str(), HasSubstr(part));
  }
  EXPECT_THAT(text.str(), Not(HasSubstr("\"checked\": false")));
}

TEST_F(demo_command, runs_the_chosen_rivals_only) {
  ended const done = demo("--rows 5000 --repeat 1 --rivals serial");
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_THAT(done.output, AllOf(Not(HasSubstr("tbb")), Not(HasSubstr("libgomp")), HasSubstr("heddle")));
}

TEST_F(demo_command, trains_on_a_file) {
  std::string rows;
  for (int i = 0; i < 400; ++i)
    rows += std::to_string(i % 3 == 0) + "\t" + std::to_string(i % 3) + "\t" + std::to_string(i) + "\n";
  ended const done = demo("--repeat 1 --rivals serial --data " + write("rows.tsv", rows));
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_THAT(done.output, AllOf(HasSubstr("360 training rows of 2 features"), HasSubstr("100.0 %"),
                                 HasSubstr("warning: 360 training rows are too few")));
}

TEST_F(demo_command, names_what_is_wrong_with_the_file) {
  ended const missing = demo_errors("--data " + (folder_ / "absent.tsv").string());
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.output, HasSubstr("absent.tsv: cannot be opened"));
  ended const short_row = demo_errors("--data " + write("short.tsv", "1\t2\t3\n0\t1\n"));
  EXPECT_EQ(short_row.status, 1);
  EXPECT_THAT(short_row.output, HasSubstr("short.tsv:2: expected 3 columns"));
  ended const empty = demo_errors("--data " + write("empty.tsv", ""));
  EXPECT_EQ(empty.status, 1);
  EXPECT_THAT(empty.output, HasSubstr("empty.tsv: is empty"));
}

TEST_F(demo_command, refuses_bad_arguments) {
  ended const rival = demo_errors("--rivals tbbb");
  EXPECT_EQ(rival.status, 2);
  EXPECT_THAT(rival.output, AllOf(HasSubstr("--rivals"), HasSubstr("tbbb"), HasSubstr("tbb")));
  EXPECT_EQ(demo_errors("--test rows.tsv").status, 2);
  EXPECT_EQ(demo_errors("--rows 3").status, 2);
  EXPECT_EQ(demo_errors("--seed -1").status, 2);
  EXPECT_EQ(demo_errors("--json /absent/figures.json").status, 2);
  ended const policy = demo_errors("--policy nonsense");
  EXPECT_EQ(policy.status, 2);
  EXPECT_THAT(policy.output, AllOf(HasSubstr("--policy"), HasSubstr("random_ws")));
}

}  // namespace
}  // namespace demo_test

#endif

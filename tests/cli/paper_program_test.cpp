// `heddle paper` is heddle-paper, which the command executes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/paper/program.hpp"
#include "cli/scratch.hpp"
#include "process/run.hpp"
#include "tests/cli/captured.hpp"

namespace heddle::cli {
namespace paper_program_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

process::ended said_by(const std::string& command, std::vector<std::string> arguments,
                       process::stream errors = process::stream::dropped) {
  arguments.insert(arguments.begin(), command);
  return process::run(arguments, {.output = process::stream::kept, .errors = errors});
}

TEST(paper_program, variables_before_a_command_are_its_environment) {
  const std::string command = "HEDDLE_LOOP=window,64 HEDDLE_SPIN=2 bench loop --n 5=5";
  const std::vector<std::pair<std::string, std::string>> variables{{"HEDDLE_LOOP", "window,64"}, {"HEDDLE_SPIN", "2"}};
  EXPECT_EQ(paper::environment_of(command), variables);
  EXPECT_TRUE(paper::environment_of("bench loop --n 5=5").empty());
  EXPECT_EQ(paper::shown_command(command), "HEDDLE_LOOP=window,64 HEDDLE_SPIN=2 heddle bench loop --n 5=5");
}

TEST(paper_program, does_what_the_subcommand_does) {
  EXPECT_EQ(said_by(HEDDLE_COMMAND, {"paper", "list"}).output, run_captured({"paper", "list"}).out);
  EXPECT_EQ(said_by(HEDDLE_COMMAND, {"paper", "--help"}).output, run_captured({"paper", "--help"}).out);
  EXPECT_EQ(said_by(HEDDLE_COMMAND, {"help", "paper"}).output, run_captured({"help", "paper"}).out);
  // All subcommands are in these; this program has one more, of another test.
  EXPECT_THAT(said_by(HEDDLE_COMMAND, {"--help"}).output, HasSubstr("\n  paper "));
  EXPECT_THAT(said_by(HEDDLE_COMMAND, {"help", "man"}).output, HasSubstr("heddle paper"));
}

TEST(paper_program, refuses_as_the_subcommand_does) {
  const process::ended told = said_by(HEDDLE_COMMAND, {"paper", "rnu"}, process::stream::kept);
  EXPECT_EQ(told.status, 2);
  EXPECT_EQ(told.output, run_captured({"paper", "rnu"}).err);
}

TEST(paper_program, is_missed_by_name) {
  const scratch_folder folder("heddle-paper-program-test");
  const std::string alone = folder.file("heddle");
  fs::copy_file(HEDDLE_COMMAND, alone);
  const process::ended told = said_by(alone, {"paper", "list"}, process::stream::kept);
  EXPECT_EQ(told.status, 1);
  EXPECT_THAT(told.output, HasSubstr("heddle paper: heddle-paper is a program of its own"));
  EXPECT_THAT(told.output, HasSubstr("heddle_paper"));
}

}  // namespace
}  // namespace paper_program_test
}  // namespace heddle::cli

// Programs that `heddle paper` runs here, and what it reads of their output.
#include "cli/paper/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <system_error>

#include "cli/child.hpp"
#include "cli/paper/machine.hpp"
#include "cli/paper/value.hpp"

namespace heddle::cli::paper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ended shell(const std::string& script, const std::string& trace = {}) {
  return run_here({"/bin/sh", "-c", script}, trace);
}

TEST(paper_run_here, has_the_status_and_the_errors) {
  ::testing::internal::CaptureStdout();
  const ended e = shell("echo lost; echo kept >&2; exit 7");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(e.status, 7);
  EXPECT_EQ(e.errors, "kept\n");
  EXPECT_EQ(shell("kill -9 $$").status, 128 + SIGKILL);
}

TEST(paper_run_here, errors_longer_than_a_pipe) {
  const ended e =
      shell("i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789 >&2; i=$((i + 1)); done");
  EXPECT_EQ(e.status, 0);
  EXPECT_EQ(e.errors.size(), 3000u * 41);
}

TEST(paper_run_here, traces_only_where_it_was_asked) {
  ::setenv("HEDDLE_TRACE", "of the caller", 1);
  EXPECT_EQ(shell("echo \"<$HEDDLE_TRACE>\" >&2").errors, "<>\n");
  EXPECT_EQ(shell("echo \"<$HEDDLE_TRACE>\" >&2", "here.heddle").errors, "<here.heddle>\n");
  EXPECT_STREQ(std::getenv("HEDDLE_TRACE"), "of the caller");
  ::unsetenv("HEDDLE_TRACE");
}

TEST(paper_run_here, names_a_program_that_cannot_be_run) {
  try {
    (void)run_here({"/absent/program"}, {});
    FAIL() << "it ran";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/absent/program"));
    EXPECT_EQ(error.code().value(), ENOENT);
  }
}

TEST(paper_run_here, ends_with_the_command) {
  // The program ends this process's run; without the end of the program that it is told, too, this would never return.
  EXPECT_THROW((void)shell("kill -TERM $PPID; while :; do :; done"), interrupted);
  EXPECT_EQ(shell("exit 3").status, 3) << "and nothing is left of the signal";
}

TEST(paper_words_of, splits_at_blanks) {
  EXPECT_THAT(words_of("  bench fib   --n 20 "), ElementsAre("bench", "fib", "--n", "20"));
  EXPECT_THAT(words_of(""), IsEmpty());
}

TEST(paper_last_line, of_what_was_said) {
  EXPECT_EQ(last_line("heddle bench: first\nheddle bench: second\n\n", 1), "second");
  EXPECT_EQ(last_line("plain", 1), "plain");
  EXPECT_EQ(last_line("\n", 9), "the program ended with status 9");
}

TEST(paper_seconds_in, finds_the_row) {
  const scratch_folder folder;
  const std::string file = folder.file("rows.json");
  std::ofstream(file) << R"({"rows": [
    {"runtime": "serial", "policy": null, "metric": "time", "unit": "ms", "median": 5, "checked": true},
    {"runtime": "heddle", "policy": "adws", "metric": "time", "unit": "us", "median": 7, "checked": true},
    {"runtime": "heddle", "policy": "adws", "metric": "other", "unit": "s", "median": 8, "checked": true},
    {"runtime": "heddle", "policy": "pdf", "metric": "time", "unit": "s", "median": 9, "checked": false}]})";
  EXPECT_DOUBLE_EQ(seconds_in(file, "", "serial", std::nullopt), 5e-3);
  EXPECT_DOUBLE_EQ(seconds_in(file, "", "heddle", "adws"), 7e-6);
  EXPECT_DOUBLE_EQ(seconds_in(file, "other", "heddle", "adws"), 8);
  EXPECT_THROW((void)seconds_in(file, "", "heddle", "sb"), unavailable);
  EXPECT_THROW((void)seconds_in(file, "", "heddle", "pdf"), unavailable) << "its result is wrong";
  EXPECT_THROW((void)seconds_in(folder.file("absent.json"), "", "heddle", "adws"), unavailable);
}

}  // namespace
}  // namespace heddle::cli::paper

// Programs that `heddle paper` runs here, and what it reads of their output.
#include "cli/paper/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "cli/paper/figures.hpp"
#include "cli/paper/machine.hpp"
#include "cli/paper/value.hpp"

namespace heddle::cli::paper {
namespace paper_process_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string errors_of(const std::string& script, const std::string& trace = {}) {
  return run_here({"/bin/sh", "-c", script}, trace).output;
}

TEST(paper_run_here, keeps_errors_alone) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(errors_of("echo lost; echo kept >&2"), "kept\n");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(paper_run_here, traces_only_where_it_was_asked) {
  ::setenv("HEDDLE_TRACE", "of the caller", 1);
  EXPECT_EQ(errors_of("echo \"<$HEDDLE_TRACE>\" >&2"), "<>\n");
  EXPECT_EQ(errors_of("echo \"<$HEDDLE_TRACE>\" >&2", "here.heddle"), "<here.heddle>\n");
  EXPECT_STREQ(std::getenv("HEDDLE_TRACE"), "of the caller");
  ::unsetenv("HEDDLE_TRACE");
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
  const scratch_folder folder("heddle-paper-test");
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
}  // namespace paper_process_test
}  // namespace heddle::cli::paper

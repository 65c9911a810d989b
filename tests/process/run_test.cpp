#include "process/run.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/sanitized.hpp"

namespace heddle::process {
namespace run_test {
namespace {

ended shell(const std::string& script, setting how = {}) { return run({"/bin/sh", "-c", script}, how); }

TEST(run, has_the_status_or_the_signal) {
  const ended left = shell("exit 7");
  EXPECT_EQ(left.status, 7);
  EXPECT_EQ(left.signal, 0);
  EXPECT_FALSE(left.late);
  const ended died = shell("kill -9 $$");
  EXPECT_EQ(died.status, 128 + SIGKILL);
  EXPECT_EQ(died.signal, SIGKILL);
}

TEST(run, leads_each_stream_where_it_was_told) {
  const std::string both = "echo out; echo error >&2";
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(shell(both, {.output = stream::kept, .errors = stream::kept}).output, "out\nerror\n");
  EXPECT_EQ(shell(both, {.output = stream::kept, .errors = stream::dropped}).output, "out\n");
  EXPECT_EQ(shell(both, {.output = stream::dropped, .errors = stream::kept}).output, "error\n");
  EXPECT_EQ(shell(both, {.output = stream::dropped}).output, "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error\n");
}

TEST(run, keeps_more_than_a_pipe_holds) {
  const ended e =
      shell("i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i + 1)); done",
            {.output = stream::kept});
  EXPECT_EQ(e.status, 0);
  EXPECT_EQ(e.output.size(), 3000u * 41);
}

TEST(run, what_was_written_before_stands_before) {
  testing::internal::CaptureStdout();
  std::printf("first, ");
  EXPECT_EQ(shell("echo second").status, 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "first, second\n");
}

// A limit that is reached only by a program that goes on; with and without a stream that is read meanwhile.
TEST(run, kills_what_takes_too_long) {
  for (const stream output : {stream::kept, stream::shared}) {
    const ended e = shell("while :; do :; done", {.output = output, .limit = std::chrono::seconds(1)});
    EXPECT_TRUE(e.late);
    EXPECT_EQ(e.signal, SIGKILL);
    EXPECT_FALSE(shell("exit 0", {.output = output, .limit = std::chrono::seconds(600)}).late);
  }
}

TEST(run, the_file_may_have_another_name_than_the_program) {
  EXPECT_EQ(run({"another", "-c", "echo $0"}, {.file = "/bin/sh", .output = stream::kept}).output, "another\n");
}

TEST(run, searches_where_it_was_told) {
  EXPECT_EQ(run({"sh", "-c", "exit 3"}, {.searched = true}).status, 3);
  EXPECT_THROW((void)run({"sh", "-c", "exit 3"}), std::system_error);
}

TEST(run, prepares_the_child_alone) {
  const auto before = [] { ::setenv("HEDDLE_RUN_TEST", "there", 1); };
  EXPECT_EQ(shell("echo $HEDDLE_RUN_TEST", {.output = stream::kept, .before = before}).output, "there\n");
  EXPECT_EQ(std::getenv("HEDDLE_RUN_TEST"), nullptr);
}

TEST(run, names_a_program_that_cannot_be_run) {
  for (const stream output : {stream::kept, stream::shared}) {
    try {
      (void)run({"/absent/program"}, {.output = output});
      FAIL() << "it ran";
    } catch (const std::system_error& error) {
      EXPECT_NE(std::string(error.what()).find("/absent/program"), std::string::npos);
      EXPECT_EQ(error.code().value(), ENOENT);
    }
  }
}

TEST(run, ends_with_this_process) {
  // The program ends this process's run; without the end of the program that it is told, too, this would never return.
  const std::string script = "kill -TERM $PPID; while :; do :; done";
  EXPECT_THROW((void)shell(script, {.output = stream::kept}), interrupted);
  // here it sits in waitid, which the interceptor does not take for a call that blocks
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "ThreadSanitizer keeps signals back until the program calls";
  EXPECT_THROW((void)shell(script), interrupted);
  EXPECT_EQ(shell("exit 3").status, 3) << "and nothing is left of the signal";
}

}  // namespace
}  // namespace run_test
}  // namespace heddle::process

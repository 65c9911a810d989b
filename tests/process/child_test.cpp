#include "process/child.hpp"

#include <gtest/gtest.h>

#include <string>

namespace heddle::process {
namespace child_test {
namespace {

std::string shell = "/bin/sh";

TEST(child, has_the_status_of_the_program) {
  const auto run = [](const char* script) {
    child one(shell, [&] { ::execl(shell.c_str(), "sh", "-c", script, nullptr); });
    return exit_status(one.wait());
  };
  EXPECT_EQ(run("exit 7"), 7);
  EXPECT_EQ(run("kill -9 $$"), 128 + 9);
}

TEST(child, names_a_program_that_cannot_be_run) {
  try {
    child one("/absent", [] { ::execl("/absent", "absent", nullptr); });
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code().value(), ENOENT);
    EXPECT_NE(std::string(e.what()).find("/absent"), std::string::npos);
  }
}

TEST(child, is_killed_with_its_holder) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  {
    child one(shell, [&] {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl(shell.c_str(), "sh", "-c", "while :; do :; done", nullptr);
    });
    int status = 0;
    EXPECT_FALSE(one.ended(status));
  }
  ::close(ends[1]);
  char rest = 0;
  EXPECT_EQ(::read(ends[0], &rest, 1), 0);
  ::close(ends[0]);
}

TEST(child, gets_the_signals_that_end_the_command) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    child one(shell, [] { ::execl(shell.c_str(), "sh", "-c", "while :; do :; done", nullptr); });
    ::raise(number);  // the handler of this process
    try {
      (void)one.wait();
      FAIL() << number;
    } catch (const interrupted& told) {
      EXPECT_EQ(told.signal, number);
    }
  }
  // The next one begins anew, and what was before is in force again.
  child one(shell, [] { ::execl(shell.c_str(), "sh", "-c", "exit 3", nullptr); });
  EXPECT_EQ(exit_status(one.wait()), 3);
  struct sigaction now{};
  ::sigaction(SIGTERM, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

TEST(child, a_second_signal_kills_one_that_does_not_listen) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  child one(shell, [&] {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl(shell.c_str(), "sh", "-c", "trap '' TERM; echo deaf; while :; do :; done", nullptr);
  });
  char rest = 0;
  ASSERT_EQ(::read(ends[0], &rest, 1), 1);  // the trap is set
  ::raise(SIGTERM);
  ::raise(SIGTERM);
  EXPECT_THROW((void)one.wait(), interrupted);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace child_test
}  // namespace heddle::process

// Programs that the command runs end with it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "process/child.hpp"
#include "support/sanitized.hpp"

namespace heddle::cli {
namespace ended_command_test {
namespace {

// A shell with `script`, its standard output a pipe: that is at its end when it and all it started are gone.
struct piped {
  explicit piped(const std::string& script) {
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    started = ::fork();
    if (started == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
  }
  ~piped() { ::close(ends[0]); }
  std::string line() {
    std::string text;
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) text += c;
    return text;
  }
  // The limit is generous: it is reached only by a program that goes on.
  bool all_gone() {
    pollfd end{ends[0], POLLIN, 0};
    char rest = 0;
    while (::poll(&end, 1, 60'000) == 1) {
      if (::read(ends[0], &rest, 1) <= 0) return true;
    }
    return false;
  }
  int status() {
    int s = 0;
    ::waitpid(started, &s, 0);
    return process::exit_status(s);
  }
  int ends[2]{};
  pid_t started{0};
};

// The command itself, on a program that spins: no shell script between, which the kernel's help would not reach.
class ended_command : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "heddle_ended_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    write("heddle-bench-heddle",
          "[ \"$1\" = --list ] && { echo '{\"runtime\": \"heddle\", \"compiler\": \"\", \"flags\": \"\"}'; "
          "echo '{\"kernel\": \"fib\", \"n\": 3, \"most\": 0}'; exit 0; }\necho begun >&3\nwhile :; do :; done\n");
    write("spin", "echo begun >&3\nwhile :; do :; done\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  }
  void ends(const std::string& arguments) {
    piped command("exec 3>&1; HEDDLE_BENCH_DIR='" + folder_.string() + "' exec '" HEDDLE_COMMAND "' " + arguments +
                  " 2>/dev/null");
    ASSERT_EQ(command.line(), "begun");
    ASSERT_EQ(::kill(command.started, GetParam()), 0);
    EXPECT_TRUE(command.all_gone()) << arguments;
    EXPECT_EQ(command.status(), 128 + GetParam());
  }
  std::filesystem::path folder_;
};

TEST_P(ended_command, bench_takes_its_programs_along) { ends("bench fib --workers 1"); }
TEST_P(ended_command, dag_takes_its_program_along) {
  // the command sits in waitid, which the interceptor does not take for a call that blocks
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "ThreadSanitizer keeps signals back until the program calls";
  ends("dag -- " + (folder_ / "spin").string());
}

INSTANTIATE_TEST_SUITE_P(by, ended_command, ::testing::Values(SIGTERM, SIGINT, SIGHUP, SIGKILL));

}  // namespace
}  // namespace ended_command_test
}  // namespace heddle::cli

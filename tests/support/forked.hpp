// Parts of tests that run in a child of this process: what they change or end is the child's. A child ends after a
// minute at the latest, so that nothing here waits for ever.
#pragma once

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>

namespace heddle_test {

// Ends with status 0 where program() does not end it.
template <class F>
pid_t start_child(F&& program) {
  std::fflush(nullptr);
  const pid_t child = fork();
  EXPECT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    program();
    _exit(0);
  }
  return child;
}

// Waits for the end of a child; as of waitpid.
inline int status_of(pid_t child) {
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

template <class F>
int in_child(F&& program) {
  return status_of(start_child(program));
}

// A child whose standard error is read here. It is killed with this object, if it has not ended.
class child_heard {
 public:
  template <class F>
  explicit child_heard(F&& program) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    errors_ = ends[0];
    id_ = start_child([&] {
      dup2(ends[1], STDERR_FILENO);
      close(ends[0]);
      close(ends[1]);
      program();
    });
    close(ends[1]);
  }
  ~child_heard() {
    close(errors_);
    if (id_ <= 0) return;
    kill(id_, SIGKILL);
    (void)heddle_test::status_of(id_);
  }
  child_heard(const child_heard&) = delete;
  child_heard& operator=(const child_heard&) = delete;

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  [[nodiscard]] const std::string& said() const noexcept { return said_; }
  // Waits for more output. Returns false if the child has ended.
  bool hear() {
    char block[4096];
    const ssize_t n = read(errors_, block, sizeof block);
    if (n < 0 && errno == EINTR) return true;
    if (n <= 0) return false;
    said_.append(block, static_cast<std::size_t>(n));
    return true;
  }
  // Hears it to its end.
  int status() {
    while (hear()) {
    }
    const int status = heddle_test::status_of(id_);
    id_ = 0;
    return status;
  }

 private:
  pid_t id_{0};
  int errors_{-1};
  std::string said_;
};

}  // namespace heddle_test

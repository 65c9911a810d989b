// What a program that hangs tells of itself: HEDDLE_SIGNAL_STACKS and HEDDLE_WATCHDOG print all threads that wait, by name.
#include <heddle/latch.hpp>
#include <heddle/mutex.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/wait.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "support/runtimes.hpp"

namespace {

// A forked child with `variable=value` in its environment; its standard error is read here until it has all of `wanted`,
// or ends. The child is killed then: the programs of these tests do not end by themselves.
std::string said_by_child(const char* variable, const char* value, const std::vector<std::string>& wanted,
                          const std::function<void(int ready)>& program, int signal_when_ready = 0) {
  int error[2], ready[2];
  EXPECT_EQ(pipe(error), 0);
  EXPECT_EQ(pipe(ready), 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    dup2(error[1], STDERR_FILENO);
    close(error[0]);
    close(error[1]);
    close(ready[0]);
    setenv(variable, value, 1);
    program(ready[1]);
    _exit(0);
  }
  close(error[1]);
  close(ready[1]);
  char byte = 0;
  if (read(ready[0], &byte, 1) == 1 && signal_when_ready != 0) kill(child, signal_when_ready);
  std::string text;
  const auto complete = [&] {
    for (const auto& w : wanted) {
      if (text.find(w) == std::string::npos) return false;
    }
    return true;
  };
  char buffer[4096];
  while (!complete()) {
    // Asked before the last thread was parked? Ask again.
    pollfd source{error[0], POLLIN, 0};
    if (poll(&source, 1, 200) == 0) {
      if (signal_when_ready == 0 || waitpid(child, nullptr, WNOHANG) == 0) {
        if (signal_when_ready != 0) kill(child, signal_when_ready);
        continue;
      }
      break;
    }
    const ssize_t n = read(error[0], buffer, sizeof buffer);
    if (n <= 0) break;
    text.append(buffer, static_cast<std::size_t>(n));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(error[0]);
  close(ready[0]);
  return text;
}

void expect_all(const std::string& text, const std::vector<std::string>& wanted) {
  for (const auto& w : wanted) EXPECT_NE(text.find(w), std::string::npos) << "'" << w << "' is missing in:\n" << text;
}

// Threads that wait for different things for ever; says when all of them do.
void many_waits(int ready) {
  heddle::runtime rt({.workers = 2});
  rt.run([&] {
    heddle::mutex held;
    heddle::counting_semaphore<> empty(0);
    heddle::latch closed(1);
    held.lock();
    heddle::thread a({.name = "wants the mutex"}, [&] { held.lock(); });
    heddle::thread b({.name = "wants the semaphore"}, [&] { empty.acquire(); });
    heddle::thread c({.name = "wants the latch"}, [&] { closed.wait(); });
    heddle::task_group group;
    group.run([&] { empty.acquire(); });
    for (int i = 0; i < 1000; ++i) heddle::this_thread::yield();  // all have run and wait now, with one worker or two
    EXPECT_EQ(write(ready, "!", 1), 1);
    group.wait();
  });
}

TEST(signal_stacks, prints_all_threads_and_what_they_wait_for) {
  if (heddle_test::sanitized) GTEST_SKIP() << "a sanitizer's threads do not survive the fork";
  const std::vector<std::string> wanted = {"2 workers", "(wants the mutex) waits for: mutex", "(wants the semaphore) waits for: semaphore",
                                           "(wants the latch) waits for: latch", "waits for: task group"};
  expect_all(said_by_child("HEDDLE_SIGNAL_STACKS", "USR1", wanted, many_waits, SIGUSR1), wanted);
}

void deadlock(int ready) {
  heddle::runtime rt({.workers = 2});
  rt.run([&] {
    heddle::mutex left, right;
    heddle::latch both(2);
    heddle::thread a({.name = "left first"}, [&] {
      left.lock();
      both.arrive_and_wait();
      right.lock();
    });
    heddle::thread b({.name = "right first"}, [&] {
      right.lock();
      both.arrive_and_wait();
      left.lock();
    });
    EXPECT_EQ(write(ready, "!", 1), 1);
    a.join();
  });
}

TEST(watchdog, names_the_threads_of_a_deadlock) {
  if (heddle_test::sanitized) GTEST_SKIP() << "a sanitizer's threads do not survive the fork";
  const std::vector<std::string> wanted = {"no progress", "(left first) waits for: mutex", "(right first) waits for: mutex", "(unnamed) waits for: thread"};
  expect_all(said_by_child("HEDDLE_WATCHDOG", "1", wanted, deadlock), wanted);
}

TEST(watchdog, is_silent_while_there_is_progress_or_nothing_to_do) {
  if (heddle_test::sanitized) GTEST_SKIP() << "a sanitizer's threads do not survive the fork";
  const auto text = said_by_child("HEDDLE_WATCHDOG", "1", {"never said"}, [](int ready) {
    heddle::runtime rt({.workers = 2});
    rt.run([] { heddle::this_thread::yield(); });
    EXPECT_EQ(write(ready, "!", 1), 1);
    usleep(2500 * 1000);  // more than two periods without work
  });
  EXPECT_EQ(text.find("no progress"), std::string::npos) << text;
}

}  // namespace

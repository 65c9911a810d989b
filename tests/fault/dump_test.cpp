// What a program that hangs tells of itself: HEDDLE_SIGNAL_STACKS and
// HEDDLE_WATCHDOG print all threads that wait, by name.
#include <heddle/blocking.hpp>
#include <heddle/latch.hpp>
#include <heddle/mutex.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/sleep.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"
#include "worker/faults.hpp"
#include "worker/runtime.hpp"

namespace {

// A forked child with `variable=value` in its environment; its standard error is read here until it has all of
// `wanted`, or ends. The child is killed then: the programs of these tests do not end by themselves.
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
  const std::vector<std::string> wanted = {"2 workers", "(wants the mutex) waits for: mutex",
                                           "(wants the semaphore) waits for: semaphore",
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
  const std::vector<std::string> wanted = {"no progress", "(left first) waits for: mutex",
                                           "(right first) waits for: mutex", "(unnamed) waits for: thread"};
  expect_all(said_by_child("HEDDLE_WATCHDOG", "1", wanted, deadlock), wanted);
}

TEST(watchdog, tells_who_holds_a_mutex_and_where_it_was_asked_for) {
  if (heddle_test::sanitized) GTEST_SKIP() << "a sanitizer's threads do not survive the fork";
  const std::vector<std::string> wanted = {", held by thread ",
                                           "(right first)\n",
                                           "(left first)\n",
                                           "asked for in ",
                                           "these wait for each other for ever: thread ",
                                           ", held up by the first"};
  const std::string text = said_by_child("HEDDLE_WATCHDOG", "1", wanted, deadlock);
  expect_all(text, wanted);
  EXPECT_NE(text.find("fault_dump_test+0x"), std::string::npos)
      << "lambdas have no name in the dynamic symbol table, but a place:\n"
      << text;
}

// A kernel thread outside of the workers that waits for a mutex; and one that holds it.
TEST(watchdog, tells_of_kernel_threads_outside) {
  if (heddle_test::sanitized) GTEST_SKIP() << "a sanitizer's threads do not survive the fork";
  const std::vector<std::string> wanted = {"  kernel thread ", ") waits for: mutex 0x", ", held by thread ",
                                           "(keeps the left one)"};
  expect_all(said_by_child(
                 "HEDDLE_SIGNAL_STACKS", "USR1", wanted,
                 [](int ready) {
                   heddle::runtime rt({.workers = 2});
                   heddle::mutex left;
                   heddle::counting_semaphore<> never(0);
                   rt.run([&] {
                     heddle::thread({.name = "keeps the left one"}, [&] {
                       left.lock();
                       never.acquire();
                     }).detach();
                     for (int i = 0; i < 1000; ++i) heddle::this_thread::yield();
                   });
                   EXPECT_EQ(write(ready, "!", 1), 1);
                   left.lock();
                 },
                 SIGUSR1),
             wanted);
  const std::vector<std::string> other = {"(wants what main has) waits for: mutex 0x", ", held by kernel thread ",
                                          "which is no worker's"};
  expect_all(said_by_child(
                 "HEDDLE_SIGNAL_STACKS", "USR1", other,
                 [](int ready) {
                   heddle::runtime rt({.workers = 2});
                   heddle::mutex mine;
                   mine.lock();
                   heddle::thread waits({.name = "wants what main has", .where = &rt}, [&] { mine.lock(); });
                   EXPECT_EQ(write(ready, "!", 1), 1);
                   for (;;) pause();
                 },
                 SIGUSR1),
             other);
}

// Sleep is no hang, be it in heddle's timers or in the kernel; a circle beside it is.
TEST(watchdog, is_silent_while_all_sleep_and_tells_of_a_deadlock_beside) {
  if (heddle_test::sanitized) GTEST_SKIP() << "a sanitizer's threads do not survive the fork";
  for (const bool in_kernel : {false, true}) {
    std::string text = "no progress";
    for (int attempt = 0; attempt < 5 && text.find("no progress") != std::string::npos; ++attempt) {
      text = said_by_child("HEDDLE_WATCHDOG", "1", {"never said"}, [in_kernel](int ready) {
        heddle::runtime rt({.workers = 2});
        heddle::thread sleeper({.where = &rt}, [in_kernel] {
          if (in_kernel) heddle::blocking([] { pause(); });
          else heddle::this_thread::sleep_for(std::chrono::hours(1));
        });
        EXPECT_EQ(write(ready, "!", 1), 1);
        const auto looks = [&] { return rt.core().watchdog_looks(); };
        for (const auto first = looks(); looks() < first + 3;) usleep(1000);
        _exit(0);
      });
    }
    EXPECT_EQ(text.find("no progress"), std::string::npos) << text;
  }
  const std::vector<std::string> wanted = {"no progress", "waits for: time", "these wait for each other for ever"};
  expect_all(said_by_child("HEDDLE_WATCHDOG", "1", wanted,
                           [](int ready) {
                             heddle::runtime rt({.workers = 2});
                             heddle::thread sleeper({.where = &rt},
                                                    [] { heddle::this_thread::sleep_for(std::chrono::hours(1)); });
                             heddle::mutex left, right;
                             heddle::latch both(2);
                             heddle::thread a({.where = &rt}, [&] {
                               left.lock();
                               both.arrive_and_wait();
                               right.lock();
                             });
                             heddle::thread b({.where = &rt}, [&] {
                               right.lock();
                               both.arrive_and_wait();
                               left.lock();
                             });
                             EXPECT_EQ(write(ready, "!", 1), 1);
                             a.join();
                           }),
             wanted);
}

// Eight kernel threads call at once, which borrow what workers there are. All that they
// wait for is the clock, so nothing hangs; one thread more that waits for nothing in the
// world does not change that, and where there is nothing but such threads it is told.
TEST(watchdog, knows_calls_from_outside_that_sleep_from_a_hang) {
  if (heddle_test::sanitized) GTEST_SKIP() << "a sanitizer's threads do not survive the fork";
  const auto call = [](heddle::runtime& rt, std::vector<std::thread>& callers, bool sleep) {
    for (int k = 0; k < 8; ++k) {
      callers.emplace_back([&rt, sleep] {
        rt.run([sleep] {
          heddle::this_thread::yield();
          if (sleep) heddle::this_thread::sleep_for(std::chrono::hours(1));
          heddle::counting_semaphore<> never(0);
          never.acquire();
        });
      });
    }
  };
  std::string text = "no progress";
  for (int attempt = 0; attempt < 5 && text.find("no progress") != std::string::npos; ++attempt) {
    text = said_by_child("HEDDLE_WATCHDOG", "1", {"never said"}, [call](int ready) {
      heddle::runtime one({.workers = 1}), two({.workers = 2}), eight({.workers = 8});
      std::vector<std::thread> callers;
      for (heddle::runtime* rt : {&one, &two, &eight}) {
        call(*rt, callers, true);
        callers.emplace_back([rt] { rt->run([] { heddle::counting_semaphore<>(0).acquire(); }); });
      }
      EXPECT_EQ(write(ready, "!", 1), 1);
      for (heddle::runtime* rt : {&one, &two, &eight}) {
        const auto looks = [&] { return rt->core().watchdog_looks(); };
        for (const auto first = looks(); looks() < first + 3;) usleep(1000);
      }
      _exit(0);
    });
  }
  EXPECT_EQ(text.find("no progress"), std::string::npos) << text;
  for (const unsigned workers : {1u, 2u, 8u}) {
    const std::vector<std::string> wanted = {"no progress", std::to_string(workers) + " workers",
                                             "waits for: semaphore"};
    expect_all(said_by_child("HEDDLE_WATCHDOG", "1", wanted,
                             [call, workers](int ready) {
                               heddle::runtime rt({.workers = workers});
                               std::vector<std::thread> callers;
                               call(rt, callers, false);
                               EXPECT_EQ(write(ready, "!", 1), 1);
                               for (std::thread& t : callers) t.join();
                             }),
               wanted);
  }
}

// The program lasts until its watchdog has looked several times: at a runtime
// with nothing to do, and at one whose threads come and go all the time.
TEST(watchdog, is_silent_while_there_is_progress_or_nothing_to_do) {
  if (heddle_test::sanitized) GTEST_SKIP() << "a sanitizer's threads do not survive the fork";
  for (const bool busy : {false, true}) {
    // A machine that gives the program no processor for a second
    // makes no progress, too: one attempt in peace is enough.
    std::string text = "no progress";
    for (int attempt = 0; attempt < 5 && text.find("no progress") != std::string::npos; ++attempt) {
      text = said_by_child("HEDDLE_WATCHDOG", "1", {"never said"}, [busy](int ready) {
        heddle::runtime rt({.workers = 2});
        rt.run([] { heddle::this_thread::yield(); });
        EXPECT_EQ(write(ready, "!", 1), 1);
        const auto looks = [&] { return rt.core().watchdog_looks(); };
        for (const auto first = looks(); looks() < first + 3;) {
          if (busy) rt.run([] { heddle::this_thread::yield(); });
          else usleep(1000);
        }
      });
    }
    EXPECT_EQ(text.find("no progress"), std::string::npos) << text;
  }
}

// A dump in the middle of spawns: what it calls a child is a name at every moment.
TEST(dump, names_are_names_while_children_come_and_go) {
  if (heddle_test::sanitized) GTEST_SKIP() << "the dump reads what others write";
  heddle::runtime rt({.workers = 2});
  std::atomic<bool> over{false};
  heddle::thread spawner({.name = "the spawner", .where = &rt}, [&] {
    while (!over.load()) {
      heddle::task_group group;
      for (int i = 0; i < 1000; ++i) group.run([] {});
      group.wait();
    }
  });
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3000; ++i) heddle::worker::dump_threads(rt.core());
  const std::string text = testing::internal::GetCapturedStderr();
  over = true;
  spawner.join();
  int named = 0;
  for (std::size_t at = text.find(" runs thread "); at != std::string::npos; at = text.find(" runs thread ", at + 1)) {
    const std::size_t open = text.find('(', at), close = text.find(")\n", at);
    ASSERT_TRUE(open < close && close != std::string::npos);
    const std::string name = text.substr(open + 1, close - open - 1);
    ASSERT_TRUE(name == "unnamed" || name == "the spawner") << "'" << name << "'";
    ++named;
  }
  if (named == 0) GTEST_SKIP() << "no dump met a running thread";
}

}  // namespace

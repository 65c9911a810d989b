// The dump of a program that hangs: HEDDLE_SIGNAL_STACKS and HEDDLE_WATCHDOG print all threads that wait, by name.
#include <heddle/blocking.hpp>
#include <heddle/latch.hpp>
#include <heddle/mutex.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/sleep.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/forked.hpp"
#include "support/runtimes.hpp"
#include "worker/diagnosis/faults.hpp"
#include "worker/diagnosis/foreign_waits.hpp"
#include "worker/runtime.hpp"

namespace dump_test {
namespace {

// Runs a child with `variable=value` in its environment. Its standard error is read here until it has all of `wanted`,
// or ends. `program` writes to `ready` if it must get a signal then. The child is killed at the end, because the
// programs of these tests do not end by themselves.
std::string said_by_child(const char* variable, const char* value, const std::vector<std::string>& wanted,
                          const std::function<void(int ready)>& program, int signal_when_ready = 0) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  heddle_test::child_heard child([&] {
    close(ready[0]);
    setenv(variable, value, 1);
    program(ready[1]);
  });
  close(ready[1]);
  char byte = 0;
  if (signal_when_ready != 0 && read(ready[0], &byte, 1) == 1) kill(child.id(), signal_when_ready);
  close(ready[0]);
  const auto complete = [&] {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](const std::string& w) { return child.said().find(w) != std::string::npos; });
  };
  while (!complete() && child.hear()) {
  }
  return child.said();
}

// In a system call, where the system tells of whom a stack is.
bool is_known(const void* stack) { return heddle::platform::whose_stack(stack).id != 0; }

// Tells `ready` when no worker runs anything, so many user-level threads wait, and at least so many kernel threads do,
// and whose stack has `on_stack` is known: what a dump then says is whole.
void tell_when_all_wait(heddle::runtime& rt, unsigned users, unsigned kernels, int ready,
                        const void* on_stack = nullptr) {
  std::thread([&home = rt.core(), users, kernels, ready, on_stack] {
    const auto all_wait = [&] {
      for (unsigned rank = 0; rank < home.workers(); ++rank) {
        if (heddle::worker::is_running(home.at(rank))) return false;
      }
      unsigned user = 0, kernel = 0;
      home.stacks().for_each_block([&](const heddle::fiber::thread& t) { user += t.shown.waits_for != nullptr; });
      heddle::worker::foreign_wait::for_each([&](const void* stack, auto&&...) { kernel += is_known(stack); });
      return user == users && kernel >= kernels && (on_stack == nullptr || is_known(on_stack));
    };
    while (!all_wait()) std::this_thread::yield();
    EXPECT_EQ(write(ready, "!", 1), 1);
  }).detach();
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
    std::atomic<bool> begun{false};
    group.run([&] {
      begun.store(true);
      empty.acquire();
    });
    while (!begun.load()) heddle::this_thread::yield();  // or it would run on the stack of who waits for the group
    tell_when_all_wait(rt, 5, 0, ready);
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

void deadlock(int) {
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
  EXPECT_NE(text.find("fault_tests+0x"), std::string::npos)
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
                     std::atomic<bool> kept{false};
                     heddle::thread({.name = "keeps the left one"}, [&] {
                       left.lock();
                       kept.store(true);
                       never.acquire();
                     }).detach();
                     while (!kept.load()) heddle::this_thread::yield();
                   });
                   tell_when_all_wait(rt, 1, 1, ready);
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
                   tell_when_all_wait(rt, 1, 0, ready, &mine);
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
      text = said_by_child("HEDDLE_WATCHDOG", "1", {"never said"}, [in_kernel](int) {
        heddle::runtime rt({.workers = 2});
        heddle::thread sleeper({.where = &rt}, [in_kernel] {
          if (in_kernel) heddle::blocking([] { pause(); });
          else heddle::this_thread::sleep_for(std::chrono::hours(1));
        });
        const auto looks = [&] { return rt.core().watchdog_looks(); };
        for (const auto first = looks(); looks() < first + 3;) usleep(1000);
        _exit(0);
      });
    }
    EXPECT_EQ(text.find("no progress"), std::string::npos) << text;
  }
  const std::vector<std::string> wanted = {"no progress", "waits for: time", "these wait for each other for ever"};
  expect_all(said_by_child("HEDDLE_WATCHDOG", "1", wanted,
                           [](int) {
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
                             a.join();
                           }),
             wanted);
}

// Eight kernel threads call at once, which take what workers there are. All that they
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
    text = said_by_child("HEDDLE_WATCHDOG", "1", {"never said"}, [call](int) {
      heddle::runtime one({.workers = 1}), two({.workers = 2}), eight({.workers = 8});
      std::vector<std::thread> callers;
      for (heddle::runtime* rt : {&one, &two, &eight}) {
        call(*rt, callers, true);
        callers.emplace_back([rt] { rt->run([] { heddle::counting_semaphore<>(0).acquire(); }); });
      }
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
                             [call, workers](int) {
                               heddle::runtime rt({.workers = workers});
                               std::vector<std::thread> callers;
                               call(rt, callers, false);
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
      text = said_by_child("HEDDLE_WATCHDOG", "1", {"never said"}, [busy](int) {
        heddle::runtime rt({.workers = 2});
        rt.run([] { heddle::this_thread::yield(); });
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
}  // namespace dump_test

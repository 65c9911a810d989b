// Foreign kernel threads that call: they carry a sleeping worker
// themselves for the call's time, and every way out of that is right.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/fib.hpp"
#include "support/runtimes.hpp"
#include "support/sanitized.hpp"

namespace calls_from_outside_test {
namespace {

using namespace std::chrono_literals;

class outside : public heddle_test::over_runtimes {
 protected:
  // f(k) on `count` foreign kernel threads at a time.
  template <class F>
  static void together(int count, F f) {
    std::vector<std::thread> threads;
    for (int k = 0; k < count; ++k) threads.emplace_back([k, &f] { f(k); });
    for (std::thread& t : threads) t.join();
  }
};

TEST_P(outside, several_threads_call_again_and_again) {
  const int rounds = (heddle_test::thread_sanitized ? 20 : 60) * heddle_test::stress();
  std::atomic<int> right{0};
  together(3, [&](int) {
    for (int round = 0; round < rounds; ++round) {
      const long sum = runtime().run([&] {
        std::atomic<long> s{0};
        heddle::parallel_for(0, round % 40, [&](int i) { s += i; });
        return s.load() + heddle_test::fib(6);
      });
      const int n = round % 40;
      right += sum == n * (n - 1) / 2 + 8 ? 1 : 0;
    }
  });
  EXPECT_EQ(right.load(), 3 * rounds);
}

TEST_P(outside, calls_wait_for_each_other) {
  for (int round = 0; round < (heddle_test::thread_sanitized ? 7 : 20) * heddle_test::stress(); ++round) {
    heddle::channel<int> there(1), back(1);
    together(2, [&](int k) {
      runtime().run([&, k] {
        for (int i = 0; i < 5; ++i) {
          if (k == 0) there.send(i);
          ASSERT_EQ(k == 0 ? *back.receive() : *there.receive(), i);
          if (k == 1) back.send(i);
        }
      });
    });
  }
}

// Other workers run the threads that a call leaves behind.
TEST_P(outside, threads_outlive_the_call_that_made_them) {
  std::atomic<int> ran{0};
  for (int round = 0; round < 20; ++round) {
    std::vector<heddle::thread> left;
    runtime().run([&] {
      for (int i = 0; i < 3; ++i) left.emplace_back([&] { ++ran; });
    });
    for (heddle::thread& t : left) t.join();
  }
  EXPECT_EQ(ran.load(), 60);
}

TEST_P(outside, calls_sleep_block_and_throw) {
  together(2, [&](int) {
    for (int round = 0; round < 5 * heddle_test::stress(); ++round) {
      EXPECT_EQ(runtime().run([] {
        heddle::this_thread::sleep_for(100us);
        return heddle::blocking([] { return heddle_test::fib(5); });
      }),
                5);
      try {
        throw 1;
      } catch (int) {  // being handled while the call handles others
        EXPECT_THROW(runtime().run([] {
          try {
            heddle::parallel_for(0, 100, [](int i) {
              if (i == 50) throw std::runtime_error("50");
            });
          } catch (const std::runtime_error&) {
            heddle::this_thread::yield();
            throw;
          }
        }),
                     std::runtime_error);
        EXPECT_NE(std::current_exception(), nullptr);
      }
      EXPECT_EQ(std::current_exception(), nullptr);
    }
  });
}

TEST_P(outside, calls_hold_locks_of_each_other) {
  heddle::mutex m;
  long count = 0;
  together(3, [&](int) {
    for (int round = 0; round < 20; ++round) {
      runtime().run([&] {
        heddle::task_group g;
        for (int i = 0; i < 4; ++i) {
          g.run([&] {
            std::lock_guard hold(m);
            ++count;
            heddle::this_thread::yield();
          });
        }
        g.wait();
      });
    }
  });
  EXPECT_EQ(count, 240);
}

HEDDLE_OVER_RUNTIMES(outside);

// A loop whose two halves wait for each other, while all other workers are taken and given back all the time.
TEST(calls_from_outside, halves_meet) {
  heddle::runtime home(heddle::runtime_options{.workers = 2, .bind = "off"});
  std::atomic<bool> end{false};
  std::thread busy([&] {
    while (!end) home.run([] {});
  });
  for (int round = 0; round < 300 * heddle_test::stress(); ++round) {
    std::atomic<int> here{0};
    home.run([&] {
      heddle::parallel_for(0, 2, [&](int) {
        ++here;
        while (here.load() < 2) heddle::this_thread::pause();
      });
    });
    ASSERT_EQ(here.load(), 2);
  }
  end = true;
  busy.join();
}

TEST(calls_from_outside, a_runtime_ends_right_after) {
  for (int round = 0; round < 100 * heddle_test::stress(); ++round) {
    heddle::runtime home(heddle::runtime_options{.workers = 2, .bind = "off"});
    if (round % 2 == 0) std::this_thread::sleep_for(50us);
    EXPECT_EQ(home.run([] { return heddle_test::fib(7); }), 13);
  }
}

// A preemptive thread never runs on the kernel thread of a caller, where it would have no ticks.
TEST(calls_from_outside, preemptive_children_run_on_workers_of_their_own) {
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
  for (const heddle::preemption how : {heddle::preemption::signal_yield, heddle::preemption::klt_switching}) {
    heddle::runtime home(heddle::runtime_options{.workers = 1, .preempt_interval = 100us});
    for (int round = 0; round < 20; ++round) {
      std::this_thread::sleep_for(100us);
      std::atomic<int> here{0};
      home.run([&] {
        heddle::task_group g;
        g.preempt(how);
        for (int i = 0; i < 3; ++i) {
          g.run([&] {
            ++here;
            while (here.load() < 3) {
            }
          });
        }
        g.wait();
      });
      ASSERT_EQ(here.load(), 3);
    }
  }
}

int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// fork() at any moment of eight other threads' calls, which take workers, keep them and
// give them back: on a kernel thread that is not heddle's the child makes a runtime of its
// own; inside a call it ends at once, and the call's other half goes on in the parent.
class forks_beside_calls : public testing::TestWithParam<unsigned> {};

TEST_P(forks_beside_calls, leave_both_processes_right) {
  if (heddle_test::sanitized) GTEST_SKIP() << "a sanitizer's threads do not survive the fork";
  heddle::runtime home(heddle::runtime_options{.workers = GetParam(), .bind = "off"});
  std::atomic<bool> end{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int k = 0; k < 8; ++k) {
    callers.emplace_back([&, k] {
      for (int round = 0; !end; ++round) {
        if (home.run([] { return heddle_test::fib(8); }) != 21) ++wrong;
        if (k != 0 || round % 50 != 0) continue;
        const int status = home.run([] {  // the worker is with a caller to the thread that forks
          const pid_t child = fork();
          if (child == 0) _exit(7);
          return heddle::blocking([&] { return status_of(child); });
        });
        if (status != 7) ++wrong;
      }
    });
  }
  for (int round = 0; round < 10 * heddle_test::stress(); ++round) {
    std::this_thread::sleep_for(1ms);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      heddle::runtime own(heddle::runtime_options{.workers = 2, .bind = "off"});
      bool right = own.run([] { return heddle_test::fib(9); }) == 34;
      std::thread other([&] { right = right && own.run([] { return heddle_test::fib(7); }) == 13; });
      other.join();
      _exit(right ? 0 : 1);
    }
    ASSERT_EQ(status_of(child), 0) << "round " << round;
  }
  end = true;
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(workers, forks_beside_calls, testing::Values(1u, 2u, 8u),
                         [](const auto& i) { return std::to_string(i.param); });

}  // namespace
}  // namespace calls_from_outside_test

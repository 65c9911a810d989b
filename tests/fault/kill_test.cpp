// Failures must neither hang nor leak: exceptions and cancellation anywhere, fork(), exit with live threads, no kernel
// threads to be had, no memory, stack overflow, more workers than processors.
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "base/random.hpp"
#include "support/forked.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"
#include "worker/runtime.hpp"

// For LeakSanitizer: in a forked child the C library's lists of what the parent's kernel threads destroy at their end
// belong to threads that do not exist there.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:__cxa_thread_atexit_impl\n"; }

namespace kill_test {
namespace {

using heddle_test::in_child;

long fib(long n) {
  if (n < 2) return n;
  auto [x, y] = heddle::parallel_invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return x + y;
}

// A random tree of forks, groups, threads and yields that throws with probability 1/rate at each node.
struct random_tree {
  static inline std::atomic<long> alive{0};
  struct scope {
    scope() { ++alive; }
    ~scope() { --alive; }
  };
  static void node(std::uint64_t seed, int depth, unsigned rate) {
    scope here;
    heddle::base::random_source random(seed);
    if (rate != 0 && random.below(rate) == 0) throw std::runtime_error("node");
    if (random.below(16) == 0) heddle::this_thread::yield();
    if (depth == 0) return;
    const std::uint64_t left = random.next(), right = random.next();
    if (random.below(2) == 0) {
      heddle::parallel_invoke([=] { node(left, depth - 1, rate); }, [=] { node(right, depth - 1, rate); });
    } else {
      heddle::task_group group;
      group.run([=] { node(left, depth - 1, rate); });
      if (random.below(8) == 0) group.cancel();
      group.run([=] { node(right, depth - 1, rate); });
      group.wait();
    }
  }
};

class kill : public heddle_test::over_runtimes {};

TEST_P(kill, exceptions_and_cancellation_at_random_places) {
  heddle_test::watchdog guard("kill tests", std::chrono::seconds(120));
  const int rounds = 40 * heddle_test::stress();
  int thrown = 0;
  for (int round = 0; round < rounds; ++round) {
    try {
      run([round] {
        random_tree::node(static_cast<std::uint64_t>(round), 9, round % 4 == 0 ? 0u : 20u << (round % 7));
      });
    } catch (const std::runtime_error&) {
      ++thrown;
    }
    ASSERT_EQ(random_tree::alive.load(), 0) << round;
  }
  EXPECT_GT(thrown, 0);
}

HEDDLE_OVER_RUNTIMES(kill);

TEST(openblas_343_fork, the_child_of_a_running_program_works_alone) {
  if (heddle_test::thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer refuses threads in the forked child of a program with threads";
  EXPECT_EQ(fib(16), 987);  // the global runtime runs
  EXPECT_EQ(in_child([] {
              if (fib(16) != 987) _exit(1);
              heddle::runtime own({.workers = 2});
              if (own.run([] { return fib(12); }) != 144) _exit(2);
            }),
            0);
  EXPECT_EQ(fib(16), 987);  // and the parent's still does
}

TEST(openblas_343_fork, from_inside_a_task) {
  heddle::runtime rt({.workers = 2});
  const int status = rt.run([] {
    heddle::parallel_invoke([] { fib(10); }, [] { fib(10); });
    return in_child([] { std::_Exit(3); });
  });
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(onetbb_977_exit, with_live_threads_does_not_hang_or_crash) {
  if (heddle_test::thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer refuses threads in the forked child of a program with threads";
  EXPECT_EQ(in_child([] {
              for (int i = 0; i < 20; ++i) {
                heddle::thread t([] {
                  for (;;) heddle::this_thread::yield();
                });
                t.detach();
              }
              fib(10);
              std::exit(0);
            }),
            0);
}

TEST(onetbb_255_no_kernel_threads, is_an_error_that_says_so) {
  if (heddle_test::thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer refuses threads in the forked child of a program with threads";
  if (geteuid() == 0) {
    // RLIMIT_NPROC does not bind root: give it up in the child.
    const int status = in_child([] {
      if (setgid(65534) != 0 || setuid(65534) != 0) _exit(0);
      rlimit none{1, 1};
      setrlimit(RLIMIT_NPROC, &none);
      try {
        heddle::runtime rt({.workers = 4});
      } catch (const std::system_error& e) {
        _exit(std::string(e.what()).find("HEDDLE_WORKERS") != std::string::npos ? 0 : 1);
      }
      _exit(2);
    });
    EXPECT_EQ(status, 0);
  } else {
    GTEST_SKIP() << "needs root to set the scene";
  }
}

TEST(no_memory, threads_that_cannot_have_a_stack_are_an_error) {
  if (heddle_test::sanitized) GTEST_SKIP() << "sanitizers reserve more than any limit";
  EXPECT_EQ(in_child([] {
              heddle::runtime rt({.workers = 2});
              rt.run([] {
                rlimit limit{std::size_t{2} << 30, std::size_t{2} << 30};
                setrlimit(RLIMIT_AS, &limit);
                std::atomic<bool> go{false};
                std::vector<heddle::thread> all;
                bool refused = false;
                try {
                  for (int i = 0; i < 10000; ++i) {
                    all.emplace_back([&] {
                      while (!go.load()) heddle::this_thread::yield();
                    });
                  }
                } catch (const std::system_error&) {
                  refused = true;
                }
                go = true;
                for (auto& t : all) t.join();
                if (!refused || all.size() < 100) _exit(1);
                if (fib(15) != 610) _exit(2);  // work goes on
              });
            }),
            0);
}

TEST(an_exception_that_leaves_a_thread, names_it) {
  EXPECT_DEATH(
      {
        heddle::runtime rt({.workers = 1});
        heddle::thread t({.name = "reader", .where = &rt}, [] { throw std::runtime_error("no file"); });
        t.join();
      },
      "an exception left the function of thread [0-9]+ \\(reader\\)");
}

TEST(stack_overflow, is_named) {
  if (heddle_test::sanitized) GTEST_SKIP() << "the sanitizer reports it";
  EXPECT_DEATH(
      {
        heddle::runtime rt({.workers = 1});
        rt.run([] {
          struct recursion {
            [[gnu::noinline]] static int down(volatile int* p) {
              volatile int here[200];
              here[0] = *p;
              return *p < 0 ? 0 : down(here) + here[0];
            }
          };
          heddle::thread t({.stack_size = 64 << 10, .name = "deep"}, [] {
            volatile int zero = 0;
            recursion::down(&zero);
          });
          t.join();
        });
      },
      "stack overflow in user-level thread .*deep.*HEDDLE_STACK_SIZE");
}

// Frames of several sizes: the guard is met in the recursion itself, and on the way into the runtime and out of it,
// where another thread is `running` already.
template <std::size_t Padding>
[[gnu::noinline]] int spawning(volatile int* p) {
  volatile char here[Padding];
  here[0] = static_cast<char>(*p);
  heddle::task_group group;
  group.run([&here] { here[0] = 0; });
  volatile int next = *p;
  const int below = *p < 0 ? 0 : spawning<Padding>(&next);
  group.wait();
  return below + here[0];
}

template <std::size_t... Step>
void overflow_at_each(std::index_sequence<Step...>) {
  const auto with = [](int (*down)(volatile int*)) {
    heddle::runtime rt({.workers = 1, .policy = "random_ws:spawn=child"});
    rt.run([down] {
      heddle::thread t({.stack_size = 64 << 10, .name = "spawner"}, [down] {
        volatile int zero = 0;
        down(&zero);
      });
      t.join();
    });
  };
  (([&] { EXPECT_DEATH(with(spawning<16 + 16 * Step>), "stack overflow in user-level thread .*spawner") << Step; }()),
   ...);
}

TEST(stack_overflow, is_named_where_a_child_is_spawned) {
  if (heddle_test::sanitized) GTEST_SKIP() << "the sanitizer reports it";
  overflow_at_each(std::make_index_sequence<12>());
}

TEST(oversubscription, one_to_sixtyfour_workers) {
  heddle_test::watchdog guard("kill tests", std::chrono::seconds(120));
  for (unsigned workers : {1u, 2u, 3u, 5u, 8u, 16u, 33u, 64u}) {
    heddle::runtime rt({.workers = workers});
    EXPECT_EQ(rt.run([] { return fib(18); }), 2584) << workers;
  }
}

TEST(runtimes, several_at_a_time_and_many_in_a_row) {
  heddle_test::watchdog guard("kill tests", std::chrono::seconds(120));
  heddle::runtime a({.workers = 2}), b({.workers = 3, .policy = "serial"});
  EXPECT_EQ(b.workers(), 1u);
  EXPECT_EQ(a.run([&] { return b.run([&] { return a.run([] { return fib(12); }); }); }), 144);
  for (int i = 0; i < 30; ++i) {
    heddle::runtime c({.workers = 2});
    EXPECT_EQ(c.run([] { return fib(8); }), 21);
  }
}

TEST(runtimes, bad_options_name_themselves) {
  const auto message = [](const heddle::runtime_options& o) {
    try {
      heddle::runtime rt(o);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_NE(message({.policy = "randomws"}).find("randomws"), std::string::npos);
  EXPECT_NE(message({.policy = "randomws"}).find("did you mean random_ws?"), std::string::npos);
  EXPECT_NE(message({.policy = "random_ws:spwan=child"}).find("spwan"), std::string::npos);
  EXPECT_NE(message({.workers = 100000}).find("100000"), std::string::npos);
  EXPECT_NE(message({.bind = "maybe"}).find("maybe"), std::string::npos);
  EXPECT_NE(message({.watchdog = 1000000}).find("1000000"), std::string::npos);
  EXPECT_NE(message({.signal_stacks = "KILL"}).find("KILL"), std::string::npos);
  EXPECT_NE(message({.trace_buffer = 1}).find("trace_buffer"), std::string::npos);
}

TEST(runtimes, options_set_in_code_take_effect) {
  heddle::runtime rt({.workers = 1, .trace_buffer = 4096, .smt = false, .watchdog = 7200, .signal_stacks = "WINCH"});
  EXPECT_EQ(rt.core().options().trace_records, 4096u);
  EXPECT_EQ(rt.core().options().watchdog, 7200u);
  EXPECT_EQ(rt.core().options().dump_signal, "WINCH");
  testing::internal::CaptureStderr();
  {
    heddle::runtime whole({.smt = true, .watchdog = 7200}), cores({.smt = false, .watchdog = 7200});
    EXPECT_LE(cores.workers(), whole.workers());
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "")
      << "the end of one runtime is no request to the watchdogs of others";
}

}  // namespace
}  // namespace kill_test

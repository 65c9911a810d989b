// blocking(): the worker goes on while its thread blocks in the kernel; results, exceptions, nesting, failing carriers.
#include <heddle/blocking.hpp>
#include <heddle/latch.hpp>
#include <heddle/mutex.hpp>
#include <heddle/parallel_invoke.hpp>

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "support/kernel_threads.hpp"
#include "support/sanitized.hpp"
#include "support/waiting.hpp"

namespace blocking_test {
namespace {

class blocking : public heddle_test::waiting {};

struct kernel_pipe {
  kernel_pipe() { EXPECT_EQ(pipe(ends.data()), 0); }
  ~kernel_pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  char get() {
    char c = 0;
    EXPECT_EQ(read(ends[0], &c, 1), 1);
    return c;
  }
  void put(char c) { EXPECT_EQ(write(ends[1], &c, 1), 1); }
  std::array<int, 2> ends{};
};

// The reads can only end when the writer runs, and the writer can only run when the workers have left the readers.
TEST_P(blocking, a_hundred_threads_in_read_hold_up_nobody) {
  std::vector<kernel_pipe> pipes(100);
  std::atomic<int> reading{0}, done{0};
  run([&] {
    std::vector<heddle::thread> readers;
    for (auto& p : pipes) {
      readers.emplace_back([&] {
        const char c = heddle::blocking([&] {
          ++reading;
          return p.get();
        });
        EXPECT_EQ(c, 'x');
        ++done;
      });
    }
    while (reading.load() < 100) heddle::this_thread::yield();
    EXPECT_EQ(done.load(), 0);
    auto [a, b] = heddle::parallel_invoke([] { return 1; }, [] { return 2; });
    EXPECT_EQ(a + b, 3);
    for (auto& p : pipes) p.put('x');
    for (auto& t : readers) t.join();
  });
  EXPECT_EQ(done.load(), 100);
}

TEST_P(blocking, again_and_again_from_many_threads) {
  std::atomic<long> sum{0};
  heddle::mutex m;
  long guarded = 0;
  together(12, 2, [&](int i) {
    heddle_test::chance c(i);
    kernel_pipe p;
    for (int k = 0; k < 50 * heddle_test::stress(); ++k) {
      p.put(static_cast<char>(k % 100));
      sum += heddle::blocking([&] { return p.get(); });
      c.maybe_yield();
      std::lock_guard hold(m);
      ++guarded;
    }
    progress();
  });
  EXPECT_EQ(guarded, 14L * 50 * heddle_test::stress());
}

// Two calls at once, and who comes third waits without a kernel thread: said once.
TEST(blocking_limit, further_calls_wait_and_it_is_said_once) {
  heddle::runtime rt({.workers = 2, .blocking_limit = 2});
  std::vector<kernel_pipe> pipes(6);
  std::atomic<int> begun{0}, under_way{0}, most{0};
  testing::internal::CaptureStderr();
  rt.run([&] {
    std::vector<heddle::thread> readers;
    for (auto& p : pipes) {
      readers.emplace_back([&] {
        ++begun;
        heddle::blocking([&] {
          const int now = ++under_way;
          for (int seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          p.get();
          --under_way;
        });
      });
    }
    while (begun.load() < 6 || under_way.load() < 2) heddle::this_thread::yield();
    for (int i = 0; i < 100; ++i) heddle::this_thread::yield();  // the workers are nobody's: this goes on
    for (auto& p : pipes) p.put('x');
    for (auto& t : readers) t.join();
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(most.load(), 2);
  EXPECT_NE(said.find("HEDDLE_BLOCKING_LIMIT"), std::string::npos) << said;
  EXPECT_EQ(said.find("HEDDLE_BLOCKING_LIMIT"), said.rfind("HEDDLE_BLOCKING_LIMIT")) << said;
}

TEST_P(blocking, returns_what_f_returns_and_throws_what_f_throws) {
  int target = 0;
  together(3, 1, [&](int i) {
    EXPECT_EQ(heddle::blocking([i] { return i; }), i);
    EXPECT_EQ(&heddle::blocking([&]() -> int& { return target; }), &target);
    EXPECT_EQ(*heddle::blocking([i] { return std::make_unique<int>(i); }), i);
    std::atomic<int> calls{0};
    heddle::blocking([&] { ++calls; });
    EXPECT_EQ(calls.load(), 1);
    for (int k = 0; k < 20; ++k) {
      EXPECT_THROW(heddle::blocking([] { throw std::runtime_error("void"); }), std::runtime_error);
      EXPECT_THROW(heddle::blocking([]() -> int { throw std::logic_error("int"); }), std::logic_error);
      EXPECT_THROW(heddle::blocking([]() -> int& { throw 7; }), int);
    }
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
}

TEST_P(blocking, inside_it_is_a_foreign_thread_and_may_nest_and_wait) {
  run([&] {
    heddle::latch gate(1);
    heddle::thread waits([&] {
      heddle::blocking([&] {
        EXPECT_EQ(heddle::this_thread::id(), 0u);
        EXPECT_FALSE(runtime().is_current());
        heddle::blocking([&] { gate.wait(); });
        EXPECT_EQ(runtime().run([] { return 5; }), 5);  // work for the runtime from inside
      });
      EXPECT_TRUE(runtime().is_current());
      EXPECT_NE(heddle::this_thread::id(), 0u);
    });
    heddle::this_thread::yield();
    gate.count_down();
    waits.join();
  });
}

TEST_P(blocking, the_same_kernel_thread_from_begin_to_end_of_f) {
  static thread_local int mine = 0;
  together(8, 1, [&](int i) {
    for (int k = 0; k < 20; ++k) {
      heddle::blocking([&] {
        mine = i * 100 + k;
        usleep(10);
        EXPECT_EQ(mine, i * 100 + k);
      });
    }
  });
}

// A fork whose second half is stolen or not, around a blocking first half: the frame finds its way from any worker.
TEST_P(blocking, inside_forks) {
  const long sum = run([] {
    struct tree {
      static long at(int depth) {
        if (depth == 0) return heddle::blocking([] { return 1L; });
        auto [a, b] = heddle::parallel_invoke([=] { return at(depth - 1); }, [=] { return at(depth - 1); });
        return a + b;
      }
    };
    return tree::at(7);
  });
  EXPECT_EQ(sum, 128);
}

TEST_P(blocking, threads_that_block_end_before_the_runtime) {
  std::atomic<int> done{0};
  kernel_pipe p;
  {
    heddle::runtime own({.workers = std::get<0>(GetParam())});
    own.run([&] {
      for (int i = 0; i < 10; ++i) {
        heddle::thread t([&] {
          heddle::blocking([&] { p.get(); });
          ++done;
        });
        t.detach();
      }
    });
    for (int i = 0; i < 10; ++i) p.put('x');
  }
  EXPECT_EQ(done.load(), 10);
}

HEDDLE_OVER_RUNTIMES(blocking);

// Before all tests that leave ended kernel threads behind: the C library keeps their stacks for the next.
// No kernel thread can be had: f runs in place, and the worker waits for it.
TEST(blocking_without_carriers, runs_in_place) {
  if (heddle_test::sanitized) GTEST_SKIP() << "sanitizers need address space";
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    heddle::runtime own({.workers = 1});
    // Not own.run: that may run on this kernel thread, which needs no other for the worker, whose own one sleeps.
    bool ok = false;
    heddle::thread_options there;
    there.where = &own;
    heddle::thread caller(there, [&ok] {
      // RLIMIT_NPROC does not bind the superuser; no address space for a kernel thread's stack does the same, where it
      // is larger than those that the C library has kept.
      pthread_attr_t large;
      pthread_attr_init(&large);
      pthread_attr_setstacksize(&large, 64 << 20);
      pthread_setattr_default_np(&large);
      const rlimit none{0, 0};
      setrlimit(RLIMIT_AS, &none);
      int in_place = 0;
      for (int i = 0; i < 3; ++i) heddle::blocking([&] { in_place += heddle::this_thread::id() != 0; });
      ok = in_place == 3;
    });
    caller.join();
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// A burst needs a carrier for each call; afterwards all but a few end, and calls go on as before.
TEST(blocking_carriers, end_after_a_burst) {
  heddle_test::watchdog guard("carriers");
  // the last one where threads are preemptive by default
  constexpr int burst = 60, kept = 16, workers = 2, creator = 1;
  const long before = heddle_test::kernel_threads();
  heddle::runtime own({.workers = workers, .watchdog = 0});  // which would be one more kernel thread
  for (int round = 0; round < 2; ++round) {
    kernel_pipe p;
    std::atomic<int> reading{0};
    own.run([&] {
      std::vector<heddle::thread> readers;
      for (int i = 0; i < burst; ++i) {
        readers.emplace_back([&] {
          heddle::blocking([&] {
            ++reading;
            p.get();
          });
        });
      }
      while (reading.load() < burst) heddle::this_thread::yield();
      for (int i = 0; i < burst; ++i) p.put('x');
      for (auto& t : readers) t.join();
    });
    EXPECT_GE(heddle_test::kernel_threads(), before + workers);
    while (heddle_test::kernel_threads() > before + workers + kept + creator)
      usleep(10000);  // the guard ends a wait in vain
  }
}

// The destructor and carriers that are about to end.
TEST(blocking_carriers, end_while_the_runtime_ends) {
  heddle_test::watchdog guard("carriers");
  for (int round = 0; round < 3; ++round) {
    heddle::runtime own({.workers = 2});
    kernel_pipe p;
    own.run([&] {
      std::vector<heddle::thread> readers;
      for (int i = 0; i < 40; ++i) readers.emplace_back([&] { heddle::blocking([&] { p.get(); }); });
      for (int i = 0; i < 40; ++i) p.put('x');
      for (auto& t : readers) t.join();
    });
    usleep(static_cast<useconds_t>(995'000 + 5'000 * round));
  }
}

}  // namespace
}  // namespace blocking_test

// parallel_invoke: results, exceptions, blocking inside, foreign callers; over worker counts and policies.
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"

namespace invoke_test {
namespace {

long fib(long n) {
  if (n < 2) return n;
  auto [x, y] = heddle::parallel_invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return x + y;
}

class invoke : public heddle_test::over_runtimes {};

TEST_P(invoke, computes_a_tree) {
  // Oldest first, thousands of tasks wait at a time, and ThreadSanitizer has room for 8128.
  if (heddle_test::thread_sanitized) EXPECT_EQ(run([] { return fib(18); }), 2584);
  else EXPECT_EQ(run([] { return fib(22); }), 17711);
}

TEST_P(invoke, runs_both_halves_and_any_number) {
  run([] {
    int a = 0, b = 0, c = 0, d = 0, e = 0;
    heddle::parallel_invoke([&] { a = 1; }, [&] { b = 2; });
    heddle::parallel_invoke([&] { c = 3; }, [&] { d = 4; }, [&] { e = 5; });
    heddle::parallel_invoke([&] { a += 10; });
    EXPECT_EQ(a + b + c + d + e, 25);
  });
}

TEST_P(invoke, returns_mixed_results) {
  run([] {
    auto [text, nothing] = heddle::parallel_invoke([] { return std::string("left"); }, [] {});
    EXPECT_EQ(text, "left");
    static_cast<void>(nothing);
    auto [number, owner] = heddle::parallel_invoke([] { return 7; }, [] { return std::make_unique<int>(8); });
    EXPECT_EQ(number + *owner, 15);
  });
}

TEST_P(invoke, returns_the_results_of_any_number) {
  run([] {
    auto [a, b, c] = heddle::parallel_invoke([] { return 1; }, [] { return std::string("two"); },
                                             [] { return std::make_unique<int>(3); });
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, "two");
    EXPECT_EQ(*c, 3);
    auto [d, nothing, e, f, g] =
        heddle::parallel_invoke([] { return 1; }, [] {}, [] { return 2L; }, [] { return 'x'; }, [] { return 0.5; });
    static_cast<void>(nothing);
    EXPECT_EQ(d + e, 3);
    EXPECT_EQ(f, 'x');
    EXPECT_EQ(g, 0.5);
    EXPECT_EQ(heddle::parallel_invoke([] { return 9; }), 9);
    static_assert(std::is_void_v<decltype(heddle::parallel_invoke([] {}, [] {}, [] {}))>);
    EXPECT_THROW(heddle::parallel_invoke([] { return 1; }, []() -> int { throw 7; }, [] { return 3; }), int);
  });
}

TEST_P(invoke, mutates_callables_passed_by_reference) {
  run([] {
    struct counter {
      int calls = 0;
      void operator()() { ++calls; }
    } left, right;
    heddle::parallel_invoke(left, right);
    EXPECT_EQ(left.calls + right.calls, 2);
  });
}

// Throws from the left, the right, or both, at each place of a tree; every half that began must have ended.
std::atomic<int> begun{0}, ended{0};
struct scope {
  scope() { ++begun; }
  ~scope() { ++ended; }
};
void tree(int depth, unsigned place, unsigned mask) {
  scope here;
  if (depth == 0) {
    if ((mask >> (place % 8) & 1) != 0) throw std::runtime_error("leaf " + std::to_string(place));
    return;
  }
  heddle::parallel_invoke([=] { tree(depth - 1, place * 2, mask); }, [=] { tree(depth - 1, place * 2 + 1, mask); });
}

TEST_P(invoke, exceptions_reach_the_join_from_every_place) {
  run([] {
    for (unsigned mask = 0; mask < 256; ++mask) {
      begun = ended = 0;
      bool thrown = false;
      try {
        tree(5, 0, mask);
      } catch (const std::runtime_error& e) {
        thrown = true;
        EXPECT_EQ(std::string(e.what()).substr(0, 5), "leaf ");
      }
      EXPECT_EQ(thrown, mask != 0) << mask;
      EXPECT_EQ(begun.load(), ended.load()) << mask;
    }
  });
}

TEST_P(invoke, a_half_may_wait_for_a_thread) {
  run([] {
    std::atomic<int> sum{0};
    for (int round = 0; round < 200; ++round) {
      heddle::parallel_invoke(
          [&] {
            heddle::thread inner([&] { sum += 1; });
            inner.join();
          },
          [&] {
            heddle::thread inner([&] { sum += 2; });
            inner.join();
          });
    }
    EXPECT_EQ(sum.load(), 600);
  });
}

TEST_P(invoke, halves_may_wait_for_each_other_by_yielding) {
  run([] {
    std::atomic<int> turn{0};
    heddle::parallel_invoke(
        [&] {
          while (turn.load() != 1) heddle::this_thread::yield();
          turn = 2;
        },
        [&] {
          turn = 1;
          while (turn.load() != 2) heddle::this_thread::yield();
        });
    EXPECT_EQ(turn.load(), 2);
  });
}

TEST_P(invoke, many_foreign_threads_at_once) {
  std::atomic<long> sum{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int k = 0; k < 20; ++k) sum += runtime().run([] { return fib(12); });
    });
  }
  for (auto& t : callers) t.join();
  EXPECT_EQ(sum.load(), 8 * 20 * 144);
}

HEDDLE_OVER_RUNTIMES(invoke);

TEST(invoke_foreign, uses_the_global_runtime) {
  EXPECT_EQ(fib(15), 610);
  EXPECT_THROW(heddle::parallel_invoke([] {}, [] { throw std::logic_error("right"); }), std::logic_error);
}

TEST(invoke_depth, nests_beyond_the_queue) {
  // Deeper than the queue has slots: the rest runs in place. A sanitizer's own stacks are not as deep.
  const long depth = heddle_test::sanitized ? 5'000 : 1'200'000;
  heddle::runtime rt({.workers = 2, .stack_size = std::size_t{1} << 30});
  struct recursion {
    static long down(long depth) {
      if (depth == 0) return 0;
      auto [below, one] = heddle::parallel_invoke([depth] { return down(depth - 1); }, [] { return 1L; });
      return below + one;
    }
  };
  EXPECT_EQ(rt.run([&] { return recursion::down(depth); }), depth);
}

}  // namespace
}  // namespace invoke_test

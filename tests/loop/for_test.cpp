// parallel_for and parallel_for_range: every index once, for all kinds of bounds; exceptions, cancellation, nesting,
// bodies that wait; over worker counts and policies.
#include <heddle/parallel_for.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"

namespace {

class loop : public heddle_test::over_runtimes {};

using counts = std::vector<std::atomic<int>>;

testing::AssertionResult all_once(const counts& seen) {
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].load() != 1)
      return testing::AssertionFailure() << "index " << i << " of " << seen.size() << ": " << seen[i].load()
                                         << " times";
  }
  return testing::AssertionSuccess();
}

TEST_P(loop, visits_every_index_once) {
  run([] {
    for (std::size_t n : {0, 1, 2, 3, 4, 7, 16, 31, 64, 100, 127, 128, 129, 1000, 2'007 * heddle_test::stress()}) {
      for (std::size_t grain : {0, 1, 2, 5, 64, 1000, 1'000'000}) {
        counts seen(n);
        heddle::parallel_for(std::size_t{0}, n, [&](std::size_t i) { ++seen[i]; }, {.grain = grain});
        EXPECT_TRUE(all_once(seen)) << "grain " << grain;
      }
    }
  });
}

// The same loop again and again: it goes through not being known, being shared, and being kept to one worker.
TEST_P(loop, short_loops_repeated) {
  run([] {
    // eight workers that fall asleep between two loops: 6 ms each under ThreadSanitizer
    for (int round = 0; round < (heddle_test::thread_sanitized ? 500 : 3000) * heddle_test::stress(); ++round) {
      const int n = round % 37;
      long sum[37] = {};
      heddle::parallel_for(0, n, [&](int i) { sum[i] += i + 1; });
      EXPECT_EQ(std::accumulate(sum, sum + 37, 0L), static_cast<long>(n) * (n + 1) / 2);
    }
  });
}

template <class T>
void check_bounds(T first, T last) {
  std::atomic<std::uint64_t> sum{0};
  std::atomic<int> times{0};
  heddle::parallel_for(first, last, [&](T i) {
    sum += static_cast<std::uint64_t>(i);
    ++times;
  });
  std::uint64_t expected = 0;
  int count = 0;
  for (T i = first; i < last; ++i, ++count) expected += static_cast<std::uint64_t>(i);
  EXPECT_EQ(sum.load(), expected);
  EXPECT_EQ(times.load(), count);
}

TEST_P(loop, counts_in_every_integral_type) {
  run([] {
    check_bounds<std::int8_t>(-128, 127);
    check_bounds<std::uint8_t>(0, 255);
    check_bounds<std::int16_t>(-700, 900);
    check_bounds<std::uint16_t>(65'000, 65'535);
    check_bounds<int>(std::numeric_limits<int>::min(), std::numeric_limits<int>::min() + 500);
    check_bounds<int>(std::numeric_limits<int>::max() - 500, std::numeric_limits<int>::max());
    check_bounds<unsigned>(std::numeric_limits<unsigned>::max() - 500, std::numeric_limits<unsigned>::max());
    check_bounds<long>(std::numeric_limits<long>::min(), std::numeric_limits<long>::min() + 500);
    check_bounds<unsigned long long>(~0ull - 500, ~0ull);
    check_bounds<char>('a', 'z');
    check_bounds<int>(5, -5);
    check_bounds<unsigned>(7, 7);
  });
}

TEST_P(loop, mixed_bounds_count_in_the_common_type) {
  run([] {
    std::vector<int> v(300);
    std::atomic<int> times{0};
    heddle::parallel_for(0, v.size(), [&](auto i) {
      static_assert(std::is_same_v<decltype(i), std::size_t>);
      v[i] = 1;
    });
    EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 300);
    heddle::parallel_for(-3, std::int64_t{4}, [&](std::int64_t) { ++times; });
    EXPECT_EQ(times.load(), 7);
    heddle::parallel_for(3u, -4, [&](unsigned) { ++times; });
    EXPECT_EQ(times.load(), 7) << "a reversed range of mixed signs is empty";
    EXPECT_THROW(heddle::parallel_for(-1, 2u, [&](unsigned) { ++times; }), std::out_of_range);
    EXPECT_EQ(times.load(), 7);
  });
}

TEST_P(loop, iterators_give_references) {
  run([] {
    std::vector<int> v(1000);
    std::iota(v.begin(), v.end(), 0);
    heddle::parallel_for(v.begin(), v.end(), [](int& x) { x *= 2; });
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(v[i], 2 * i);
    std::deque<std::string> words(500, "a");
    heddle::parallel_for(words, [](std::string& w) { w += 'b'; });
    for (const auto& w : words) EXPECT_EQ(w, "ab");
    int plain[100] = {};
    heddle::parallel_for(plain, [](int& x) { ++x; });
    heddle::parallel_for(plain, plain + 50, [](int& x) { ++x; });
    EXPECT_EQ(std::accumulate(plain, plain + 100, 0), 150);
    heddle::parallel_for(v.end(), v.begin(), [](int&) { FAIL() << "reversed"; });
    std::vector<std::unique_ptr<int>> owners(200);
    heddle::parallel_for(owners, [](auto& p) { p = std::make_unique<int>(1); });
    for (const auto& p : owners) ASSERT_NE(p, nullptr);
  });
}

TEST_P(loop, chunks_keep_to_the_grain) {
  run([] {
    for (std::size_t n : {1, 10, 63, 64, 100, 1000, 2'345 * heddle_test::stress()}) {
      for (std::size_t grain : {1, 3, 16, 50}) {
        std::atomic<std::size_t> total{0};
        heddle::parallel_for_range(std::size_t{0}, n,
                                   [&](std::size_t low, std::size_t high) {
                                     EXPECT_LT(low, high);
                                     EXPECT_LT(high - low, 2 * grain);
                                     EXPECT_GE(high - low, std::min(grain, n));
                                     total += high - low;
                                   },
                                   {.grain = grain});
        EXPECT_EQ(total.load(), n);
      }
    }
  });
}

TEST_P(loop, body_is_taken_by_reference_when_it_has_state) {
  run([] {
    struct counting {
      std::atomic<int> calls{0};
      void operator()(int) { ++calls; }
    } body;
    heddle::parallel_for(0, 500, body);
    EXPECT_EQ(body.calls.load(), 500);
    std::function<void(int)> erased = [&](int) { ++body.calls; };
    heddle::parallel_for(0, 500, erased);
    EXPECT_EQ(body.calls.load(), 1000);
  });
}

TEST_P(loop, an_exception_at_any_index_reaches_the_caller) {
  run([] {
    for (std::size_t grain : {0, 1, 4}) {
      for (int n : {1, 2, 3, 40}) {
        for (int bad = 0; bad < n; ++bad) {
          std::atomic<int> begun{0}, ended{0};
          bool thrown = false;
          try {
            heddle::parallel_for(0, n,
                                 [&](int i) {
                                   ++begun;
                                   if (i == bad) {
                                     ++ended;
                                     throw std::runtime_error(std::to_string(i));
                                   }
                                   ++ended;
                                 },
                                 {.grain = grain});
          } catch (const std::runtime_error& e) {
            thrown = true;
            EXPECT_EQ(e.what(), std::to_string(bad));
          }
          EXPECT_TRUE(thrown);
          EXPECT_EQ(begun.load(), ended.load()) << "a chunk was in flight when the loop had ended";
        }
      }
    }
  });
}

TEST_P(loop, one_exception_arrives_when_all_throw) {
  run([] {
    for (int round = 0; round < 100 * heddle_test::stress(); ++round) {
      try {
        heddle::parallel_for(0, 64, [](int i) { throw i; }, {.grain = 1});
        FAIL() << "nothing was thrown";
      } catch (int i) {
        EXPECT_GE(i, 0);
        EXPECT_LT(i, 64);
      }
    }
  });
}

TEST_P(loop, an_exception_drops_chunks_that_have_not_begun) {
  run([] {
    const int all = 100'000 * heddle_test::stress();
    std::atomic<int> after{0};
    EXPECT_THROW(heddle::parallel_for(0, all,
                                      [&](int i) {
                                        if (i == 0) throw 1;
                                        ++after;
                                      },
                                      {.grain = 10}),
                 int);
    EXPECT_LT(after.load(), all);
  });
}

TEST_P(loop, a_request_to_stop_drops_the_rest) {
  run([] {
    std::stop_source never, before, within;
    std::atomic<int> times{0};
    heddle::parallel_for(0, 1000, [&](int) { ++times; }, {.stop = never.get_token()});
    EXPECT_EQ(times.load(), 1000);
    before.request_stop();
    heddle::parallel_for(0, 1000, [&](int) { ++times; }, {.stop = before.get_token()});
    EXPECT_EQ(times.load(), 1000);
    const int all = 100'000 * heddle_test::stress();
    heddle::parallel_for(0, all,
                         [&](int i) {
                           if (i == 3) within.request_stop();
                           ++times;
                         },
                         {.grain = 8, .stop = within.get_token()});
    EXPECT_GT(times.load(), 1000);
    EXPECT_LT(times.load(), 1000 + all);
  });
}

int nested(int depth) {
  if (depth == 0) return 1;
  std::atomic<int> sum{0};
  heddle::parallel_for(0, 4, [&](int) { sum += nested(depth - 1); }, {.grain = 1});
  return sum.load();
}

TEST_P(loop, nests) {
  run([] { EXPECT_EQ(nested(6), 4096); });
  run([] {
    std::vector<std::vector<int>> table(60, std::vector<int>(70));
    heddle::parallel_for(0, 60, [&](int i) { heddle::parallel_for(0, 70, [&, i](int j) { table[i][j] = i * j; }); });
    for (int i = 0; i < 60; ++i) {
      for (int j = 0; j < 70; ++j) ASSERT_EQ(table[i][j], i * j);
    }
  });
}

TEST_P(loop, bodies_may_wait_for_threads) {
  run([] {
    std::atomic<int> sum{0};
    for (int round = 0; round < 20; ++round) {
      heddle::parallel_for(0, 20, [&](int i) {
        heddle::thread inner([&, i] { sum += i; });
        if (i % 3 == 0) heddle::this_thread::yield();
        inner.join();
      });
    }
    EXPECT_EQ(sum.load(), 20 * 190);
  });
}

// Not the other way round: an iteration may wait for the ones before it, and yields while it does.
TEST_P(loop, bodies_may_wait_for_each_other_by_yielding) {
  run([] {
    for (int round = 0; round < 50 * heddle_test::stress(); ++round) {
      std::atomic<int> arrived{0};
      heddle::parallel_for(0, 2, [&](int) {
        ++arrived;
        while (arrived.load() < 2) heddle::this_thread::yield();
      });
      EXPECT_EQ(arrived.load(), 2);
    }
  });
}

TEST_P(loop, many_foreign_threads_at_once) {
  std::atomic<long> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t) {
    callers.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        runtime().run([&] { heddle::parallel_for(0, 100, [&](int i) { sum += i; }); });
      }
    });
  }
  for (auto& t : callers) t.join();
  EXPECT_EQ(sum.load(), 6L * 20 * 4950);
}

HEDDLE_OVER_RUNTIMES(loop);

// From here on the workers must really be two.
template <class Body>
void meet_many_times(int rounds, Body&& before) {
  heddle::runtime rt({.workers = 2, .policy = "random_ws"});
  rt.run([&] {
    for (int round = 0; round < rounds; ++round) {
      before(round);
      std::atomic<int> arrived{0};
      heddle::parallel_for(0, 2, [&](int) {
        ++arrived;
        while (arrived.load() < 2) std::this_thread::yield();  // the kernel's: the worker stays in the body
      });
      ASSERT_EQ(arrived.load(), 2);
    }
  });
}

TEST(rendezvous, two_iterations_meet_back_to_back) {
  meet_many_times(2000 * heddle_test::stress(), [](int) {});
}

TEST(rendezvous, two_iterations_meet_after_idleness) {
  meet_many_times(20 * heddle_test::stress(), [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
}

// One site, first trusted to be trivial, then not: a thief takes the other half by force.
TEST(rendezvous, a_body_that_changes_its_nature_is_found_out) {
  heddle::runtime rt({.workers = 2, .policy = "random_ws"});
  rt.run([] {
    long plain = 0;
    std::atomic<int> arrived{0};
    const std::function<void(int)> trivial = [&](int i) {
      if (i == 0) ++plain;
    };
    const std::function<void(int)> meeting = [&](int) {
      ++arrived;
      while (arrived.load() % 2 != 0) std::this_thread::yield();
    };
    for (int round = 0; round < 10 * heddle_test::stress(); ++round) {
      for (int i = 0; i < 2000; ++i) heddle::parallel_for(0, 2, trivial);
      heddle::parallel_for(0, 2, meeting);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the other worker may have fallen asleep
      heddle::parallel_for(0, 2, trivial);
      heddle::parallel_for(0, 2, meeting);
      EXPECT_EQ(arrived.load(), 4 * (round + 1));
    }
    EXPECT_EQ(plain, 10L * heddle_test::stress() * 2001);
  });
}

TEST(loop_foreign, uses_the_global_runtime) {
  std::vector<int> v(1000);
  heddle::parallel_for(v, [](int& x) { ++x; });
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 1000);
  EXPECT_THROW(heddle::parallel_for(0, 10, [](int) { throw std::logic_error("body"); }), std::logic_error);
}

}  // namespace

// parallel_for and parallel_for_range: every index once, for all kinds of bounds, over worker counts and policies.
// How loops end early, and bodies that wait: for_bodies_test.cpp.
#include <heddle/parallel_for.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <algorithm>
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

namespace for_test {
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

// Where a policy places each piece, a piece is a thread: a loop of very short iterations is not to be thousands of
// them, whoever takes which, and whatever is known of the site.
TEST(placed_loop, has_a_bounded_number_of_pieces_for_each_worker) {
  for (const char* policy : {"work_sharing", "work_sharing:order=fifo", "pdf", "sb", "sb-d", "mts"}) {
    for (std::size_t workers : {1u, 2u, 8u}) {
      heddle::runtime rt({.workers = static_cast<unsigned>(workers), .policy = policy});
      for (std::size_t n : {1'000, 200'000}) {
        for (int round = 0; round < 3; ++round) {
          std::atomic<std::size_t> chunks{0}, total{0};
          rt.run([&] {
            heddle::parallel_for_range(std::size_t{0}, n, [&](std::size_t low, std::size_t high) {
              ++chunks;
              total += high - low;
            });
          });
          EXPECT_EQ(total.load(), n);
          EXPECT_LE(chunks.load(), n / std::max<std::size_t>(n / (64 * workers), 1)) << policy << ' ' << workers;
        }
      }
    }
  }
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
}  // namespace for_test

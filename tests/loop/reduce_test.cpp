// parallel_reduce: results in order, determinism, exceptions; over worker counts and policies.
#include <heddle/parallel_reduce.hpp>
#include <heddle/runtime.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/runtimes.hpp"

namespace reduce_test {
namespace {

class reduce : public heddle_test::over_runtimes {};

TEST_P(reduce, sums_indices_and_elements) {
  run([] {
    // Oldest first, nearly all pieces wait at a time, and ThreadSanitizer has room for 8128.
    for (int n : {0, 1, 2, 3, 10, 100, 1000, heddle_test::thread_sanitized ? 5'432 : 8'321 * heddle_test::stress()}) {
      const long expected = static_cast<long>(n) * (n - 1) / 2;
      for (bool fixed : {false, true}) {
        EXPECT_EQ(heddle::parallel_reduce(0, n, 0L, [](int i) { return static_cast<long>(i); }, std::plus<>{},
                                          {.deterministic = fixed}),
                  expected);
      }
      std::vector<long> v(static_cast<std::size_t>(n));
      std::iota(v.begin(), v.end(), 0);
      EXPECT_EQ(heddle::parallel_reduce(v.begin(), v.end(), 0L, std::plus<>{}), expected);
      EXPECT_EQ(
          heddle::parallel_reduce(v.begin(), v.end(), 7L, [](long a, long b) { return std::max(a, b); }, {.grain = 3}),
          std::max(7L, n - 1L));
      EXPECT_EQ(
          heddle::parallel_reduce(v.begin(), v.end(), 0L, [](const long& x) { return x; }, std::plus<>{}), expected);
    }
    EXPECT_EQ(heddle::parallel_reduce(5, -5, 3, [](int i) { return i; }, std::plus<>{}), 3);
  });
}

TEST_P(reduce, combines_in_order) {
  run([] {
    std::string expected;
    for (int i = 0; i < 2000; ++i) expected += std::to_string(i) + ",";
    for (std::size_t grain : {0, 1, 7, 300}) {
      for (bool fixed : {false, true}) {
        const std::string text = heddle::parallel_reduce(
            0, 2000, std::string(), [](int i) { return std::to_string(i) + ","; },
            [](std::string a, const std::string& b) { return std::move(a) + b; },
            {.grain = grain, .deterministic = fixed});
        EXPECT_EQ(text, expected);
      }
    }
  });
}

// Short ones go through all the ways in which a loop may be run.
TEST_P(reduce, short_ones_repeated) {
  run([] {
    for (int round = 0; round < (heddle_test::thread_sanitized ? 500 : 1500) * heddle_test::stress(); ++round) {
      const int n = round % 20;
      ASSERT_EQ(heddle::parallel_reduce(0, n, 0, [](int i) { return i; }, std::plus<>{}), n * (n - 1) / 2);
      ASSERT_EQ(heddle::parallel_reduce(0, n, 0, [](int i) { return i; }, std::plus<>{}, {.deterministic = true}),
                n * (n - 1) / 2);
    }
  });
}

TEST_P(reduce, exceptions_of_both_callables) {
  run([] {
    for (int bad = 0; bad < 50; ++bad) {
      EXPECT_THROW(
          heddle::parallel_reduce(0, 50, 0, [bad](int i) { return i == bad ? throw std::runtime_error("map") : i; },
                                  std::plus<>{}, {.grain = 1}),
          std::runtime_error);
      std::atomic<int> calls{0};
      EXPECT_THROW(heddle::parallel_reduce(
                       0, 50, std::string("x"), [](int i) { return std::to_string(i); },
                       [&](const std::string& a, const std::string& b) {
                         return calls++ == bad ? throw std::logic_error("combine") : a + b;
                       },
                       {.grain = 2}),
                   std::logic_error);
    }
  });
}

TEST_P(reduce, a_request_to_stop_gives_what_was_combined) {
  run([] {
    const int all = heddle_test::thread_sanitized ? 50'000 : 100'000 * heddle_test::stress();  // as above
    std::stop_source source;
    std::atomic<int> times{0};  // everybody asks from the thousandth on, so it is not for the kernel who asks first
    const int some = heddle::parallel_reduce(0, all, 0,
                                             [&](int) {
                                               if (++times >= 1000) source.request_stop();
                                               return 1;
                                             },
                                             std::plus<>{}, {.grain = 8, .stop = source.get_token()});
    EXPECT_GT(some, 0);
    EXPECT_LT(some, all);
  });
}

HEDDLE_OVER_RUNTIMES(reduce);

double harmonic(int n, std::size_t grain) {
  return heddle::parallel_reduce(1, n, 0.0, [](int i) { return std::sin(i) / i; }, std::plus<>{},
                                 {.grain = grain, .deterministic = true});
}

TEST(deterministic_reduce, same_bits_for_any_workers_policy_and_schedule) {
  for (std::size_t grain : {0, 1, 64}) {
    for (int n : {2, 17, 1000, 100'000}) {
      std::set<std::uint64_t> results;
      for (unsigned workers : {1u, 2u, 3u, 8u}) {
        for (const char* policy : {"random_ws", "serial"}) {
          heddle::runtime rt({.workers = workers, .policy = policy});
          for (int round = 0; round < 5 * heddle_test::stress(); ++round) {
            const double sum = rt.run([&] { return harmonic(n, grain); });
            std::uint64_t bits;
            std::memcpy(&bits, &sum, sizeof bits);
            results.insert(bits);
          }
        }
      }
      EXPECT_EQ(results.size(), 1u) << "n " << n << " grain " << grain;
    }
  }
}

TEST(deterministic_reduce, same_bits_when_the_loop_is_known_to_be_short) {
  heddle::runtime rt({.workers = 2});
  std::set<double> results;
  rt.run([&] {
    for (int round = 0; round < 2000; ++round) {
      results.insert(
          heddle::parallel_reduce(1, 30, 0.0, [](int i) { return 1.0 / i; }, std::plus<>{}, {.deterministic = true}));
    }
  });
  EXPECT_EQ(results.size(), 1u);
}

TEST(reduce_foreign, uses_the_global_runtime) {
  EXPECT_EQ(heddle::parallel_reduce(0, 100, 0, [](int i) { return i; }, std::plus<>{}), 4950);
}

}  // namespace
}  // namespace reduce_test

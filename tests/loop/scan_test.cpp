// Scans against serial ones, for operations that do not commute; over worker counts and policies.
#include <heddle/parallel_scan.hpp>
#include <heddle/runtime.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/runtimes.hpp"

namespace scan_test {
namespace {

class scan : public heddle_test::over_runtimes {};

// x -> a x + b modulo 2^32: composition is associative and does not commute.
struct affine {
  std::uint32_t a, b;
  friend affine operator*(affine f, affine g) { return {f.a * g.a, g.a * f.b + g.b}; }
  friend bool operator==(affine, affine) = default;
};

std::vector<affine> some_maps(std::size_t n) {
  std::mt19937 random(static_cast<unsigned>(n) + 1);
  std::vector<affine> v(n);
  for (auto& f : v) f = {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
  return v;
}

TEST_P(scan, inclusive_and_exclusive_as_serial) {
  run([] {
    for (std::size_t n : {0, 1, 2, 3, 4, 5, 8, 17, 100, 1000, 70'001}) {
      for (std::size_t grain : {0, 1, 50}) {
        const auto in = some_maps(n);
        const affine one{1, 0}, init{3, 5};
        std::vector<affine> expected(n), out(n);
        const heddle::loop_options options{.grain = grain};

        std::inclusive_scan(in.begin(), in.end(), expected.begin(), std::multiplies<>{});
        EXPECT_EQ(heddle::parallel_inclusive_scan(in.begin(), in.end(), out.begin(), std::multiplies<>{}, options),
                  out.end());
        EXPECT_EQ(out, expected);
        out = in;
        heddle::parallel_inclusive_scan(out.begin(), out.end(), out.begin(), std::multiplies<>{}, options);
        EXPECT_EQ(out, expected) << "in place";
        out = in;
        heddle::parallel_scan(out, std::multiplies<>{}, options);
        EXPECT_EQ(out, expected) << "of a range";

        std::inclusive_scan(in.begin(), in.end(), expected.begin(), std::multiplies<>{}, init);
        heddle::parallel_inclusive_scan(in.begin(), in.end(), out.begin(), std::multiplies<>{}, init, options);
        EXPECT_EQ(out, expected);

        std::exclusive_scan(in.begin(), in.end(), expected.begin(), init, std::multiplies<>{});
        EXPECT_EQ(
            heddle::parallel_exclusive_scan(in.begin(), in.end(), out.begin(), init, std::multiplies<>{}, options),
            out.end());
        EXPECT_EQ(out, expected);
        out = in;
        heddle::parallel_exclusive_scan(out.begin(), out.end(), out.begin(), init, std::multiplies<>{}, options);
        EXPECT_EQ(out, expected) << "in place";
        out = in;
        heddle::parallel_exclusive_scan(out.begin(), out.end(), out.begin(), one, std::multiplies<>{});
        EXPECT_TRUE(n == 0 || out[0] == one);
      }
    }
  });
}

TEST_P(scan, wider_sums_than_elements_and_strings) {
  run([] {
    std::vector<unsigned char> bytes(5000, 200);
    std::vector<long> sums(5000);
    heddle::parallel_exclusive_scan(bytes.begin(), bytes.end(), sums.begin(), 0L);
    for (int i = 0; i < 5000; ++i) ASSERT_EQ(sums[i], 200L * i);
    std::vector<std::string> letters;
    for (int i = 0; i < 300; ++i) letters.push_back(std::string(1, static_cast<char>('a' + i % 26)));
    std::string expected;
    std::vector<std::string> out(300);
    heddle::parallel_inclusive_scan(letters.begin(), letters.end(), out.begin());
    for (int i = 0; i < 300; ++i) {
      expected += letters[i];
      ASSERT_EQ(out[i], expected);
    }
  });
}

TEST_P(scan, exceptions_reach_the_caller) {
  run([] {
    std::vector<int> v(1000, 1);
    for (int bad : {0, 1, 10, 500, 900, 1200}) {
      std::atomic<int> calls{0};
      auto out = v;
      bool thrown = false;
      try {
        heddle::parallel_inclusive_scan(v.begin(), v.end(), out.begin(), [&](int a, int b) {
          return calls++ == bad ? throw std::runtime_error("combine") : a + b;
        });
      } catch (const std::runtime_error&) {
        thrown = true;
      }
      EXPECT_EQ(thrown, calls.load() > bad);
    }
  });
}

TEST_P(scan, repeated_short_ones) {
  run([] {
    for (int round = 0; round < 500 * heddle_test::stress(); ++round) {
      std::vector<int> v(static_cast<std::size_t>(round % 50), 1);
      heddle::parallel_scan(v);
      for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], static_cast<int>(i) + 1);
    }
  });
}

TEST_P(scan, a_stopped_scan_returns) {
  run([] {
    std::stop_source source;
    source.request_stop();
    std::vector<int> v(1000, 1);
    heddle::parallel_scan(v, std::plus<>{}, {.stop = source.get_token()});
    EXPECT_EQ(v[999], 1);
  });
}

HEDDLE_OVER_RUNTIMES(scan);

TEST(scan_foreign, uses_the_global_runtime) {
  std::vector<int> v(10'000, 1);
  heddle::parallel_scan(v);
  EXPECT_EQ(v.back(), 10'000);
}

}  // namespace
}  // namespace scan_test

// parallel_sort and parallel_stable_sort against the standard ones: patterns, lengths, types, comparisons that throw at
// every call; over worker counts and policies.
#include <heddle/parallel_sort.hpp>
#include <heddle/runtime.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/runtimes.hpp"

namespace sort_test {
namespace {

class sorting : public heddle_test::over_runtimes {};

using generator = std::function<int(int i, int n, std::mt19937& random)>;

const std::vector<std::pair<const char*, generator>>& patterns() {
  static const std::vector<std::pair<const char*, generator>> all = {
      {"random", [](int, int, std::mt19937& r) { return static_cast<int>(r()); }},
      {"sorted", [](int i, int, std::mt19937&) { return i; }},
      {"reversed", [](int i, int n, std::mt19937&) { return n - i; }},
      {"equal", [](int, int, std::mt19937&) { return 5; }},
      {"two values", [](int, int, std::mt19937& r) { return static_cast<int>(r() % 2); }},
      {"few values", [](int, int, std::mt19937& r) { return static_cast<int>(r() % 17); }},
      {"organ pipe", [](int i, int n, std::mt19937&) { return std::min(i, n - i); }},
      {"saw", [](int i, int, std::mt19937&) { return i % 1000; }},
      {"nearly sorted",
       [](int i, int, std::mt19937& r) { return r() % 100 == 0 ? static_cast<int>(r() % 100'000) : i; }},
      {"sorted, one behind", [](int i, int n, std::mt19937&) { return i == n - 1 ? -1 : i; }},
  };
  return all;
}

std::vector<int> made(const generator& g, int n) {
  std::mt19937 random(static_cast<unsigned>(n));
  std::vector<int> v(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = g(i, n, random);
  return v;
}

TEST_P(sorting, as_the_standard_ones) {
  run([] {
    for (const auto& [name, g] : patterns()) {
      for (int n : {0, 1, 2, 3, 10, 24, 25, 100, 129, 1000, 5000, 40'000}) {
        const std::vector<int> in = made(g, n);
        std::vector<int> expected = in, unstable = in, stable = in, down = in;
        std::sort(expected.begin(), expected.end());
        heddle::parallel_sort(unstable.begin(), unstable.end());
        EXPECT_EQ(unstable, expected) << name << ' ' << n;
        heddle::parallel_stable_sort(stable.begin(), stable.end());
        EXPECT_EQ(stable, expected) << name << ' ' << n;
        std::reverse(expected.begin(), expected.end());
        heddle::parallel_sort(down, std::greater<>{});
        EXPECT_EQ(down, expected) << name << ' ' << n;
        down = in;
        heddle::parallel_stable_sort(down, std::greater<>{});
        EXPECT_EQ(down, expected) << name << ' ' << n;
      }
    }
  });
}

TEST_P(sorting, stable_keeps_the_order_of_equal_ones) {
  run([] {
    struct item {
      int key, place;
      bool operator==(const item&) const = default;
    };
    struct large : item {
      char more[40] = {};
    };
    std::mt19937 random(3);
    for (int n : {30, 1000, 8'000 * heddle_test::stress()}) {
      std::vector<item> items, expected;
      std::vector<large> larges;
      for (int i = 0; i < n; ++i) {
        items.push_back({static_cast<int>(random() % 100), i});
        larges.push_back({items.back()});
      }
      expected = items;
      const auto by_key = [](const item& a, const item& b) { return a.key < b.key; };
      std::sort(expected.begin(), expected.end(),
                [](const item& a, const item& b) { return a.key != b.key ? a.key < b.key : a.place < b.place; });
      heddle::parallel_stable_sort(items, by_key);
      EXPECT_EQ(items, expected);
      heddle::parallel_stable_sort(larges, by_key);
      EXPECT_TRUE(std::equal(larges.begin(), larges.end(), expected.begin(),
                             [](const large& a, const item& b) { return static_cast<const item&>(a) == b; }));
    }
  });
}

TEST_P(sorting, strings_owners_and_other_containers) {
  run([] {
    std::mt19937 random(4);
    std::vector<std::string> words;
    for (int i = 0; i < 9000; ++i) words.push_back(std::to_string(random() % 5000) + std::string(random() % 30, 'x'));
    auto expected = words, copy = words;
    std::sort(expected.begin(), expected.end());
    heddle::parallel_sort(words);
    EXPECT_EQ(words, expected);
    heddle::parallel_stable_sort(copy);
    EXPECT_EQ(copy, expected);

    for (bool stable : {false, true}) {
      std::deque<std::unique_ptr<int>> owners;
      for (int i = 0; i < 9000; ++i) owners.push_back(std::make_unique<int>(static_cast<int>(random() % 7000)));
      const auto by_value = [](const auto& a, const auto& b) { return *a < *b; };
      if (stable) heddle::parallel_stable_sort(owners.begin(), owners.end(), by_value);
      else heddle::parallel_sort(owners.begin(), owners.end(), by_value);
      EXPECT_TRUE(std::is_sorted(owners.begin(), owners.end(), by_value));
    }
  });
}

// Elements that know whether they are alive and hold their value.
class tracked {
 public:
  static inline std::atomic<int> alive{0};
  explicit tracked(int v) : value_(std::make_unique<int>(v)) { ++alive; }
  tracked(tracked&& other) noexcept : value_(std::move(other.value_)) { ++alive; }
  tracked& operator=(tracked&&) noexcept = default;
  ~tracked() { --alive; }
  int value() const { return value_ == nullptr ? -1 : *value_; }

 private:
  std::unique_ptr<int> value_;
};

template <class Sort>
void throw_at_every_call(int n, int step, Sort&& sort) {
  for (int bad = 0;; bad += step) {
    std::vector<tracked> v;
    std::mt19937 random(static_cast<unsigned>(n));
    for (int i = 0; i < n; ++i) v.emplace_back(i);
    for (int i = n; i > 1; --i) std::swap(v[static_cast<std::size_t>(i - 1)], v[random() % static_cast<unsigned>(i)]);
    std::atomic<int> calls{0};
    bool thrown = false;
    try {
      sort(v, [&](const tracked& a, const tracked& b) {
        if (calls++ == bad) throw std::runtime_error("less");
        return a.value() < b.value();
      });
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    EXPECT_EQ(tracked::alive.load(), n);
    std::vector<bool> there(static_cast<std::size_t>(n));
    for (const auto& x : v) {
      ASSERT_GE(x.value(), 0) << "an element was lost; call " << bad;
      ASSERT_FALSE(there[static_cast<std::size_t>(x.value())]) << "an element is there twice; call " << bad;
      there[static_cast<std::size_t>(x.value())] = true;
    }
    if (!thrown) {
      EXPECT_LE(calls.load(), bad) << "an exception was swallowed";
      for (int i = 0; i < n; ++i) ASSERT_EQ(v[static_cast<std::size_t>(i)].value(), i);
      return;
    }
  }
}

TEST_P(sorting, a_comparison_that_throws_leaves_a_permutation) {
  run([] {
    const auto unstable = [](auto& v, auto less) { heddle::parallel_sort(v, less); };
    const auto stable = [](auto& v, auto less) { heddle::parallel_stable_sort(v, less); };
    for (int n : {2, 10}) {
      throw_at_every_call(n, 1, unstable);
      throw_at_every_call(n, 1, stable);
    }
    // Some of the calls; more of them, in the end each, when tests may take longer.
    const auto step = [](int longest) { return std::max(longest / heddle_test::stress(), 1); };
    throw_at_every_call(40, step(5), unstable);
    throw_at_every_call(40, step(5), stable);
    throw_at_every_call(150, step(41), unstable);
    throw_at_every_call(150, step(41), stable);
    throw_at_every_call(3000, step(6007), unstable);
    throw_at_every_call(10'000, step(50'021), stable);
    throw_at_every_call(40'000, step(300'007), unstable);
  });
  EXPECT_EQ(tracked::alive.load(), 0);
}

HEDDLE_OVER_RUNTIMES(sorting);

TEST(sort_comparisons, stay_in_n_log_n_and_are_linear_for_simple_inputs) {
  heddle::runtime rt({.workers = 2});
  rt.run([] {
    const int n = 100'000;
    for (const auto& [name, g] : patterns()) {
      for (bool stable : {false, true}) {
        std::vector<int> v = made(g, n);
        std::atomic<long> calls{0};
        const auto counted = [&](int a, int b) {
          calls.fetch_add(1, std::memory_order_relaxed);
          return a < b;
        };
        if (stable) heddle::parallel_stable_sort(v, counted);
        else heddle::parallel_sort(v, counted);
        const std::string_view pattern = name;
        const bool simple = pattern == "sorted" || pattern == "reversed" || pattern == "equal";
        EXPECT_LE(calls.load(), simple && !stable ? 5L * n : static_cast<long>(2.0 * n * std::log2(n)))
            << name << (stable ? " stable" : "");
      }
    }
  });
}

// Built against median-of-three quicksorts: a comparison that decides as late as it can.
TEST(sort_comparisons, stay_in_n_log_n_against_an_adversary) {
  heddle::runtime rt({.workers = 1});
  rt.run([] {
    const int n = 20'000;
    std::vector<int> value(n, n), order(n);
    std::iota(order.begin(), order.end(), 0);
    int solid = 0, candidate = 0;
    long calls = 0;
    heddle::parallel_sort(order, [&](int a, int b) {
      ++calls;
      if (value[a] == n && value[b] == n) value[a == candidate ? a : b] = solid++;
      if (value[a] == n) candidate = a;
      else if (value[b] == n) candidate = b;
      return value[a] < value[b];
    });
    EXPECT_LE(calls, static_cast<long>(6.0 * n * std::log2(n)));
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end(), [&](int a, int b) { return value[a] < value[b]; }));
  });
}

TEST(sort_large, a_million) {
  heddle::runtime rt({.workers = 4});
  std::vector<int> v = made(patterns()[0].second, 1'000'000), stable = v, expected = v;
  std::sort(expected.begin(), expected.end());
  rt.run([&] { heddle::parallel_sort(v); });
  EXPECT_EQ(v, expected);
  rt.run([&] { heddle::parallel_stable_sort(stable); });
  EXPECT_EQ(stable, expected);
}

TEST(sort_foreign, uses_the_global_runtime) {
  std::vector<int> v = made(patterns()[0].second, 100'000);
  heddle::parallel_sort(v);
  EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
  v = made(patterns()[0].second, 100'000);
  heddle::parallel_stable_sort(v);
  EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
}

}  // namespace
}  // namespace sort_test

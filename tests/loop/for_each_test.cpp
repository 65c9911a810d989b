// Loops over ranges that can only be walked: every element once, exceptions, stops; over workers and policies.
#include <heddle/parallel_for_each.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <forward_list>
#include <list>
#include <map>
#include <ranges>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <heddle/thread.hpp>

#include "support/waiting.hpp"

namespace for_each_test {
namespace {

using namespace heddle;

class loops_over_each : public heddle_test::waiting {};

TEST_P(loops_over_each, every_element_is_visited_once) {
  run([] {
    for (int n : {0, 1, 2, 15, 16, 17, 48, 500, 3000}) {
      std::list<std::atomic<int>> list;
      for (int i = 0; i < n; ++i) list.emplace_back(0);
      parallel_for_each(list, [](std::atomic<int>& x) { ++x; });
      parallel_for_each(list.begin(), list.end(), [](std::atomic<int>& x) { ++x; }, {.grain = 4});
      for (const auto& x : list) ASSERT_EQ(x.load(), 2) << n;
    }
  });
}

TEST_P(loops_over_each, ranges_of_all_kinds) {
  run([] {
    std::map<int, int> squares;
    for (int i = 0; i < 200; ++i) squares[i] = 0;
    parallel_for_each(squares, [](auto& entry) { entry.second = entry.first * entry.first; });
    for (const auto& [i, square] : squares) ASSERT_EQ(square, i * i);
    std::forward_list<int> numbers(100, 1);
    parallel_for_each(numbers, [](int& x) { x += 1; });
    for (int x : numbers) ASSERT_EQ(x, 2);
    std::vector<int> vector(1000, 3);
    parallel_for_each(vector, [](int& x) { x *= 2; });
    for (int x : vector) ASSERT_EQ(x, 6);
    std::atomic<int> even{0};
    parallel_for_each(std::views::iota(0, 300) | std::views::filter([](int i) { return i % 2 == 0; }),
                      [&](int) { ++even; });
    EXPECT_EQ(even.load(), 150);
  });
}

TEST_P(loops_over_each, an_exception_ends_the_walk_and_reaches_the_caller) {
  run([&] {
    std::list<int> numbers;
    for (int i = 0; i < 5000; ++i) numbers.push_back(i);
    for (int bad : {0, 15, 16, 700, 4999}) {
      std::atomic<int> begun{0}, ended{0};
      std::string what;
      try {
        parallel_for_each(numbers, [&](int i) {
          ++begun;
          if (i == bad) {
            ++ended;
            throw std::runtime_error(std::to_string(i));
          }
          ++ended;
        });
      } catch (const std::runtime_error& e) {
        what = e.what();
      }
      EXPECT_EQ(what, std::to_string(bad));
      EXPECT_EQ(begun.load(), ended.load()) << "a body was in flight when the loop had ended";
      progress();
    }
  });
}

TEST_P(loops_over_each, a_request_to_stop_ends_the_walk) {
  run([] {
    std::list<int> numbers(2000, 1);
    std::stop_source stop;
    stop.request_stop();
    std::atomic<int> calls{0};
    parallel_for_each(numbers, [&](int) { ++calls; }, {.stop = stop.get_token()});
    EXPECT_EQ(calls.load(), 0);
  });
}

TEST_P(loops_over_each, bodies_wait_and_nest_and_come_from_threads_of_any_kind) {
  together(2, 2, [](int) {
    std::list<int> numbers(100, 1);
    std::atomic<int> sum{0};
    parallel_for_each(numbers, [&](int x) {
      this_thread::yield();
      std::list<int> inner(20, x);
      parallel_for_each(inner, [&](int y) { sum += y; });
    });
    EXPECT_EQ(sum.load(), 2000);
  });
}

HEDDLE_OVER_RUNTIMES(loops_over_each);

}  // namespace
}  // namespace for_each_test

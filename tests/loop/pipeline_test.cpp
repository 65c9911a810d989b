// Pipelines: order, exclusion and bounds by stage, what stages may do, exceptions and stops; over workers and policies.
#include <heddle/parallel_pipeline.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <heddle/mutex.hpp>
#include <heddle/parallel_reduce.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include "support/waiting.hpp"

namespace {

using namespace heddle;

class pipelines : public heddle_test::waiting {};

// 0, 1, ... n - 1.
auto numbers(int n) {
  return [next = 0, n]() mutable -> std::optional<int> { return next < n ? std::optional(next++) : std::nullopt; };
}

TEST_P(pipelines, each_item_passes_each_stage_once_and_in_order) {
  const int n = 300 * heddle_test::stress();
  run([&] {
    for (std::size_t tokens : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{64}}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
      std::vector<int> middle, end;
      parallel_pipeline({.tokens = tokens}, stage::serial_in_order(numbers(n)), stage::parallel([&](int i) {
                          ++seen[static_cast<std::size_t>(i)];
                          return std::to_string(i);
                        }),
                        stage::serial_out_of_order([&](std::string s) {
                          middle.push_back(std::stoi(s));
                          return s;
                        }),
                        stage::parallel([](const std::string& s) { return std::make_unique<int>(std::stoi(s)); }),
                        stage::serial_in_order([&](std::unique_ptr<int> i) { end.push_back(*i); }));
      for (const auto& s : seen) ASSERT_EQ(s.load(), 1);
      ASSERT_EQ(static_cast<int>(end.size()), n);
      for (int i = 0; i < n; ++i) ASSERT_EQ(end[static_cast<std::size_t>(i)], i);
      std::sort(middle.begin(), middle.end());
      ASSERT_EQ(middle, end);
      progress();
    }
  });
}

TEST_P(pipelines, as_many_are_on_their_way_as_there_are_tokens) {
  run([&] {
    for (std::size_t tokens : {1, 2, 5}) {
      std::atomic<int> living{0}, most{0};
      struct item {
        std::atomic<int>* living;
        item(std::atomic<int>& living, std::atomic<int>& most) : living(&living) {
          const int now = ++living;
          int seen = most.load();
          while (seen < now && !most.compare_exchange_weak(seen, now)) {
          }
        }
        item(item&& other) noexcept : living(std::exchange(other.living, nullptr)) {}
        ~item() {
          if (living != nullptr) --*living;
        }
      };
      int left = 60;
      parallel_pipeline({.tokens = tokens}, stage::serial_in_order([&] {
                          return left-- > 0 ? std::optional<item>(std::in_place, living, most) : std::nullopt;
                        }),
                        stage::parallel([](item i) {
                          this_thread::yield();
                          return i;
                        }),
                        stage::parallel([](item) { this_thread::yield(); }));
      EXPECT_LE(most.load(), static_cast<int>(tokens));
      EXPECT_EQ(living.load(), 0);
      progress();
    }
  });
}

TEST_P(pipelines, a_serial_stage_has_one_item_at_a_time_even_when_it_waits) {
  run([&] {
    mutex held;
    for (int round = 0; round < 3; ++round) {
      std::atomic<int> in_source{0}, in_middle{0}, in_end{0}, collisions{0};
      const auto alone = [&](std::atomic<int>& here) {
        if (++here != 1) ++collisions;
        {
          std::lock_guard lock(held);
          this_thread::yield();
        }
        if (--here != 0) ++collisions;
      };
      int left = 80, passed = 0;
      parallel_pipeline({.tokens = 8}, stage::serial_out_of_order([&]() -> std::optional<int> {
                          alone(in_source);
                          return left > 0 ? std::optional(left--) : std::nullopt;
                        }),
                        stage::parallel([](int i) {
                          this_thread::yield();
                          return i;
                        }),
                        stage::serial_out_of_order([&](int i) {
                          alone(in_middle);
                          return i;
                        }),
                        stage::serial_in_order([&](int i) {
                          alone(in_end);
                          EXPECT_EQ(i, 80 - passed);
                          ++passed;
                        }));
      EXPECT_EQ(collisions.load(), 0);
      EXPECT_EQ(passed, 80);
      progress();
    }
  });
}

TEST_P(pipelines, a_parallel_source_gives_each_of_its_items_once) {
  const int n = 500 * heddle_test::stress();
  run([&] {
    std::atomic<int> next{0};
    std::vector<int> got;
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
    parallel_pipeline({.tokens = 6}, stage::parallel([&]() -> std::optional<int> {
                        const int i = next++;
                        return i < n ? std::optional(i) : std::nullopt;
                      }),
                      stage::serial_in_order([&](int i) {
                        got.push_back(i);
                        return i;
                      }),
                      stage::parallel([&](int i) { ++seen[static_cast<std::size_t>(i)]; }));
    EXPECT_EQ(static_cast<int>(got.size()), n);
    for (const auto& s : seen) ASSERT_EQ(s.load(), 1);
  });
}

TEST_P(pipelines, an_exception_of_any_stage_reaches_the_caller_and_no_item_is_left) {
  run([&] {
    for (int stage_that_throws = 0; stage_that_throws < 3; ++stage_that_throws) {
      for (int bad : {0, 1, 17, 59}) {
        struct item {
          int number;
          std::shared_ptr<int> counted;
        };
        const auto counted = std::make_shared<int>(0);
        const auto throws_at = [&](int where, int i) {
          if (where == stage_that_throws && i == bad) throw std::runtime_error(std::to_string(i));
        };
        std::string what;
        int next = 0;
        try {
          parallel_pipeline({.tokens = 5}, stage::serial_in_order([&]() -> std::optional<item> {
                              throws_at(0, next);
                              if (next == 60) return std::nullopt;
                              return item{next++, counted};
                            }),
                            stage::parallel([&](item i) {
                              throws_at(1, i.number);
                              return i;
                            }),
                            stage::serial_in_order([&](const item& i) { throws_at(2, i.number); }));
        } catch (const std::runtime_error& e) {
          what = e.what();
        }
        EXPECT_EQ(what, std::to_string(bad)) << "stage " << stage_that_throws;
        EXPECT_EQ(counted.use_count(), 1) << "stage " << stage_that_throws << ", item " << bad;
        progress();
      }
    }
  });
}

TEST_P(pipelines, a_request_to_stop_ends_it_normally) {
  run([&] {
    std::stop_source stop;
    int given = 0;
    std::atomic<int> passed{0};
    parallel_pipeline({.tokens = 4, .stop = stop.get_token()}, stage::serial_in_order([&]() -> std::optional<int> {
                        if (given == 20) stop.request_stop();
                        return given++;
                      }),
                      stage::parallel([&](int) { ++passed; }));
    EXPECT_GE(given, 20);
    EXPECT_LE(passed.load(), given);
  });
}

TEST_P(pipelines, stages_have_loops_and_pipelines_of_their_own) {
  run([&] {
    long sum = 0;
    parallel_pipeline({.tokens = 3}, stage::serial_in_order(numbers(12)), stage::parallel([](int i) {
                        long inner = 0;
                        parallel_pipeline({.tokens = 2}, stage::serial_in_order(numbers(10)),
                                          stage::parallel([](int k) {
                                            return parallel_reduce(0, k, 0, [](int j) { return j; }, std::plus<>());
                                          }),
                                          stage::serial_in_order([&](int x) { inner += x; }));
                        return inner * i;
                      }),
                      stage::serial_in_order([&](long x) { sum += x; }));
    EXPECT_EQ(sum, 66L * 120);  // sum of i below 12; of k (k - 1) / 2 for k below 10
  });
}

TEST_P(pipelines, threads_of_any_kind_run_them_at_the_same_time) {
  together(2, 2, [&](int) {
    for (int round = 0; round < 5; ++round) {
      int last = -1;
      parallel_pipeline({}, stage::serial_in_order(numbers(50)), stage::parallel([](int i) { return i; }),
                        stage::serial_in_order([&](int i) { EXPECT_EQ(i, ++last); }));
      EXPECT_EQ(last, 49);
    }
  });
}

TEST_P(pipelines, an_empty_one_calls_the_source_alone) {
  run([&] {
    int calls = 0;
    parallel_pipeline({}, stage::serial_in_order([&]() -> std::optional<int> {
                        ++calls;
                        return std::nullopt;
                      }),
                      stage::parallel([&](int) { ADD_FAILURE(); }));
    EXPECT_EQ(calls, 1);
  });
}

TEST(pipelines_of_all_workers, a_slow_stage_holds_no_other_item_up) {
  // Item 0 stays in the parallel stage until all others of its window have passed it.
  runtime rt({.workers = 4});
  rt.run([] {
    std::atomic<int> passed{0};
    std::vector<int> got;
    parallel_pipeline({.tokens = 8}, stage::serial_in_order(numbers(40)), stage::parallel([&](int i) {
                        if (i == 0) {
                          while (passed.load() < 7) this_thread::yield();
                        }
                        ++passed;
                        return i;
                      }),
                      stage::serial_in_order([&](int i) { got.push_back(i); }));
    EXPECT_EQ(got.size(), 40u);
    EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
  });
}

HEDDLE_OVER_RUNTIMES(pipelines);

}  // namespace

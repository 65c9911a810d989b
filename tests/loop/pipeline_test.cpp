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
#include <heddle/semaphore.hpp>
#include <heddle/thread.hpp>

#include "support/waiting.hpp"

namespace pipeline_test {
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

struct counted {
  struct counts {
    std::atomic<int> living{0}, most{0};
  };
  counts* all;
  explicit counted(counts& c) : all(&c) {
    const int now = ++c.living;
    int seen = c.most.load();
    while (seen < now && !c.most.compare_exchange_weak(seen, now)) {
    }
  }
  counted(counted&& other) noexcept : all(std::exchange(other.all, nullptr)) {}
  ~counted() {
    if (all != nullptr) --all->living;
  }
};

TEST_P(pipelines, as_many_are_on_their_way_as_there_are_tokens) {
  const int n = 60 * heddle_test::stress();
  run([&] {
    for (std::size_t tokens : {1, 2, 5, 40}) {
      for (int yields_in : {1, 7}) {  // where all are long, and where most are short
        counted::counts all;
        int left = n * yields_in;
        std::atomic<int> turn{0};
        const auto wait_now_and_then = [&] {
          if (++turn % yields_in == 0) this_thread::yield();
        };
        parallel_pipeline({.tokens = tokens}, stage::serial_in_order([&] {
                            return left-- > 0 ? std::optional<counted>(std::in_place, all) : std::nullopt;
                          }),
                          stage::parallel([&](counted i) {
                            wait_now_and_then();
                            return i;
                          }),
                          stage::serial_out_of_order([&](counted i) {
                            wait_now_and_then();
                            return i;
                          }),
                          stage::parallel([&](counted) { wait_now_and_then(); }));
        EXPECT_LE(all.most.load(), static_cast<int>(tokens));
        EXPECT_EQ(all.living.load(), 0);
        progress();
      }
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
                        stage::parallel([](int i) {
                          this_thread::yield();
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
    for (std::size_t tokens : {1, 6, 50}) {
      std::atomic<int> next{0};
      std::vector<int> got;
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
      parallel_pipeline({.tokens = tokens}, stage::parallel([&]() -> std::optional<int> {
                          const int i = next++;
                          return i < n ? std::optional(i) : std::nullopt;
                        }),
                        stage::serial_in_order([&](int i) {
                          got.push_back(i);
                          if (i % 16 == 0) this_thread::yield();
                          return i;
                        }),
                        stage::parallel([&](int i) { ++seen[static_cast<std::size_t>(i)]; }));
      EXPECT_EQ(static_cast<int>(got.size()), n);
      for (const auto& s : seen) ASSERT_EQ(s.load(), 1);
      progress();
    }
  });
}

TEST_P(pipelines, an_exception_of_any_stage_reaches_the_caller_and_no_item_is_left) {
  run([&] {
    for (int stage_that_throws = 0; stage_that_throws < 5; ++stage_that_throws) {
      for (int bad : {0, 1, 17, 399}) {
        struct item {
          int number;
          std::shared_ptr<int> counted;
        };
        const auto counted = std::make_shared<int>(0);
        const auto throws_at = [&](int where, int i) {
          if (where == stage_that_throws && i == bad) throw std::runtime_error(std::to_string(i));
        };
        const auto passes = [&](int where) {
          return [&throws_at, where](item i) {
            throws_at(where, i.number);
            return i;
          };
        };
        std::string what;
        int next = 0;
        try {
          parallel_pipeline({.tokens = 5}, stage::serial_in_order([&]() -> std::optional<item> {
                              throws_at(0, next);
                              if (next == 400) return std::nullopt;
                              return item{next++, counted};
                            }),
                            stage::parallel(passes(1)), stage::serial_out_of_order(passes(2)),
                            stage::parallel(passes(3)),
                            stage::serial_in_order([&](const item& i) { throws_at(4, i.number); }));
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
    for (int last : {0, 20, 500}) {
      std::stop_source stop;
      counted::counts all;
      int given = 0;
      std::atomic<int> passed{0};
      parallel_pipeline(
          {.tokens = 4, .stop = stop.get_token()}, stage::serial_in_order([&]() -> std::optional<counted> {
            if (given == last) stop.request_stop();
            ++given;
            return std::optional<counted>(std::in_place, all);
          }),
          stage::parallel([](counted i) { return i; }), stage::serial_out_of_order([](counted i) { return i; }),
          stage::parallel([&](counted) { ++passed; }));
      EXPECT_EQ(given, last + 1);
      EXPECT_LE(passed.load(), given);
      EXPECT_EQ(all.living.load(), 0);
    }
  });
}

// An item is taken through all stages before the next one is asked for, or by somebody else meanwhile.
TEST_P(pipelines, a_source_may_wait_until_earlier_items_have_passed) {
  const int n = 400 * heddle_test::stress();
  run([&] {
    for (std::ptrdiff_t permits : {1, 2, 3}) {
      counting_semaphore<> left(permits);
      int next = 0, passed = 0;
      parallel_pipeline({.tokens = 16}, stage::serial_in_order([&]() -> std::optional<int> {
                          if (next == n) return std::nullopt;
                          left.acquire();
                          return next++;
                        }),
                        stage::parallel([](int i) { return i; }), stage::serial_out_of_order([](int i) { return i; }),
                        stage::parallel([](int i) { return i; }), stage::serial_in_order([&](int i) {
                          EXPECT_EQ(i, passed);
                          ++passed;
                          left.release();
                        }));
      EXPECT_EQ(passed, n);
      progress();
    }
  });
}

TEST_P(pipelines, a_parallel_stage_may_wait_until_the_item_before_has_passed) {
  const int n = 300 * heddle_test::stress();
  run([&] {
    std::vector<std::unique_ptr<binary_semaphore>> has_passed;
    for (int i = 0; i < n; ++i) has_passed.push_back(std::make_unique<binary_semaphore>(0));
    int passed = 0;
    parallel_pipeline({.tokens = 12}, stage::serial_in_order(numbers(n)), stage::parallel([&](int i) {
                        if (i > 0) has_passed[static_cast<std::size_t>(i) - 1]->acquire();
                        return i;
                      }),
                      stage::serial_out_of_order([&](int i) {
                        EXPECT_EQ(i, passed);
                        ++passed;
                        return i;
                      }),
                      stage::parallel([&](int i) { has_passed[static_cast<std::size_t>(i)]->release(); }));
    EXPECT_EQ(passed, n);
  });
}

// Whoever stays in a crowded stage waits there for what it has let go of, or for the next item, for which there is a
// token.
TEST_P(pipelines, who_stays_in_a_stage_leaves_the_rest_to_others) {
  const int n = 200 * heddle_test::stress();
  run([&] {
    std::vector<std::unique_ptr<binary_semaphore>> done, begun;
    for (int i = 0; i <= n; ++i) {
      done.push_back(std::make_unique<binary_semaphore>(0));
      begun.push_back(std::make_unique<binary_semaphore>(0));
    }
    begun[static_cast<std::size_t>(n)]->release();
    int passed = 0;
    parallel_pipeline({.tokens = 6}, stage::serial_in_order(numbers(n)), stage::parallel([](int i) {
                        if (i % 8 == 0) this_thread::yield();
                        return i;
                      }),
                      stage::serial_in_order([&](int i) {
                        if (i > 0) done[static_cast<std::size_t>(i) - 1]->acquire();
                        return i;
                      }),
                      stage::parallel([&](int i) { done[static_cast<std::size_t>(i)]->release(); }));
    parallel_pipeline({.tokens = 2}, stage::serial_in_order(numbers(n)), stage::parallel([&](int i) {
                        begun[static_cast<std::size_t>(i)]->release();
                        return i;
                      }),
                      stage::serial_in_order([&](int i) {
                        begun[static_cast<std::size_t>(i) + 1]->acquire();
                        ++passed;
                      }));
    EXPECT_EQ(passed, n);
  });
}

// After many short items one waits for a semaphore that is released when others of its window have passed it.
TEST_P(pipelines, an_item_that_waits_after_short_ones_holds_no_other_up) {
  const int n = 600;
  run([&] {
    for (const bool ordered : {false, true}) {
      binary_semaphore enough(0);
      std::atomic<int> passed{0};
      int ended = 0;
      const auto middle = [&](int i) {
        if (i == 300) enough.acquire();
        else if (i > 300 && ++passed == 6) enough.release();
        return i;
      };
      const auto end = [&](int) { ++ended; };
      if (ordered) {
        parallel_pipeline({.tokens = 8}, stage::serial_in_order(numbers(n)), stage::parallel(middle),
                          stage::serial_in_order(end));
      } else {
        parallel_pipeline({.tokens = 8}, stage::serial_in_order(numbers(n)), stage::parallel(middle),
                          stage::serial_out_of_order(end));
      }
      EXPECT_EQ(ended, n);
      progress();
    }
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

TEST(source_gates, keep_tokens_and_say_when_somebody_has_to_come) {
  detail::pipeline_token a, b, c;
  detail::source_gate gate;
  gate.put(a);
  gate.put(b);
  detail::pipeline_token* const first = gate.enter(nullptr);
  ASSERT_TRUE(first == &a || first == &b);
  EXPECT_EQ(gate.enter(nullptr), nullptr);  // somebody is in the source
  EXPECT_TRUE(gate.leave());
  detail::pipeline_token* const second = gate.enter(nullptr);
  ASSERT_NE(second, nullptr);
  ASSERT_NE(second, first);
  EXPECT_FALSE(gate.leave());
  EXPECT_EQ(gate.enter(nullptr), nullptr);  // no token is here
  EXPECT_EQ(gate.enter(&c), &c);
  EXPECT_EQ(gate.enter(first), nullptr);  // kept
  EXPECT_FALSE(gate.give(*second));
  EXPECT_TRUE(gate.leave());
  EXPECT_TRUE(gate.give(c));
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(gate.enter(nullptr), nullptr);
    EXPECT_EQ(gate.leave(), i < 2);
  }
  EXPECT_EQ(gate.enter(&c), &c);
  gate.close();
  EXPECT_EQ(gate.enter(nullptr), nullptr);
  EXPECT_EQ(gate.enter(&a), nullptr);
}

TEST(ready_pipeline_tokens, are_taken_in_the_order_in_which_they_came) {
  detail::pipeline_token all[4];
  detail::ready_tokens ready;
  EXPECT_EQ(ready.take(), nullptr);
  for (detail::pipeline_token& t : all) ready.add(t);
  for (detail::pipeline_token& t : all) EXPECT_EQ(ready.take(), &t);
  EXPECT_EQ(ready.take(), nullptr);
}

HEDDLE_OVER_RUNTIMES(pipelines);

}  // namespace
}  // namespace pipeline_test

// Bodies of loops that throw, ask for a stop, nest and wait, over worker counts and policies.
#include <heddle/parallel_for.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"

namespace for_bodies_test {
namespace {

class loop_bodies : public heddle_test::over_runtimes {};

TEST_P(loop_bodies, an_exception_at_any_index_reaches_the_caller) {
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

TEST_P(loop_bodies, one_exception_arrives_when_all_throw) {
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

// A worker that begins no chunk after one of its own has thrown cannot throw twice, however the kernel runs the others.
TEST_P(loop_bodies, an_exception_drops_chunks_that_have_not_begun) {
  run([] {
    const int all = 100'000 * heddle_test::stress();
    std::atomic<int> begun{0}, thrown{0};
    EXPECT_THROW(heddle::parallel_for(0, all,
                                      [&](int) {
                                        if (++begun <= 1000) return;
                                        ++thrown;
                                        throw 1;
                                      },
                                      {.grain = 10}),
                 int);
    EXPECT_GE(thrown.load(), 1);
    EXPECT_LE(thrown.load(), static_cast<int>(std::get<0>(GetParam())));
  });
}

// Everybody asks from the thousandth iteration on: a worker ends the chunk in which it asked, and begins no other.
TEST_P(loop_bodies, a_request_to_stop_drops_the_rest) {
  run([] {
    std::stop_source never, before, within;
    std::atomic<int> times{0};
    heddle::parallel_for(0, 1000, [&](int) { ++times; }, {.stop = never.get_token()});
    EXPECT_EQ(times.load(), 1000);
    before.request_stop();
    heddle::parallel_for(0, 1000, [&](int) { ++times; }, {.stop = before.get_token()});
    EXPECT_EQ(times.load(), 1000);
    const int all = 100'000 * heddle_test::stress();
    const int grain = 8;
    times = 0;
    heddle::parallel_for(0, all,
                         [&](int) {
                           if (++times >= 1000) within.request_stop();
                         },
                         {.grain = grain, .stop = within.get_token()});
    EXPECT_GE(times.load(), 1000);
    EXPECT_LT(times.load(), 1000 + 2 * grain * static_cast<int>(std::get<0>(GetParam())));
  });
}

// A loop of more than 2^32 iterations counts its ranges in positions of several iterations each, here 2^18 + 1. A
// worker looks at the request between the batches of a position, too.
TEST(huge_loop, a_request_to_stop_drops_the_rest_of_a_position) {
  for (unsigned workers : {1, 2}) {
    heddle::runtime rt({.workers = workers, .policy = "random_ws"});
    rt.run([&] {
      std::stop_source stop;
      std::atomic<long> times{0};
      heddle::parallel_for(0L, 1L << 50,
                           [&](long) {
                             if (++times == 1000) stop.request_stop();
                           },
                           {.stop = stop.get_token()});
      EXPECT_GE(times.load(), 1000);
      EXPECT_LT(times.load(), 1L << 17) << workers << " workers";
    });
  }
}

int nested(int depth) {
  if (depth == 0) return 1;
  std::atomic<int> sum{0};
  heddle::parallel_for(0, 4, [&](int) { sum += nested(depth - 1); }, {.grain = 1});
  return sum.load();
}

TEST_P(loop_bodies, nests) {
  run([] { EXPECT_EQ(nested(6), 4096); });
  run([] {
    std::vector<std::vector<int>> table(60, std::vector<int>(70));
    heddle::parallel_for(0, 60, [&](int i) { heddle::parallel_for(0, 70, [&, i](int j) { table[i][j] = i * j; }); });
    for (int i = 0; i < 60; ++i) {
      for (int j = 0; j < 70; ++j) ASSERT_EQ(table[i][j], i * j);
    }
  });
}

TEST_P(loop_bodies, bodies_may_wait_for_threads) {
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
TEST_P(loop_bodies, bodies_may_wait_for_each_other_by_yielding) {
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

TEST_P(loop_bodies, many_foreign_threads_at_once) {
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

HEDDLE_OVER_RUNTIMES(loop_bodies);

}  // namespace
}  // namespace for_bodies_test

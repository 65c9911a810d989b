// worker_local: nobody else has a value in use, whatever waits and moves; all that was put in comes out.
#include <heddle/worker_local.hpp>

#include <heddle/parallel_for.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"

namespace worker_local_test {
namespace {

class worker_locals : public heddle_test::over_runtimes {};

struct exclusive {
  std::atomic<int> inside{0};
  long sum{0};
  exclusive() = default;
  exclusive(exclusive&& other) noexcept : sum(other.sum) {}
  exclusive& operator=(exclusive&& other) noexcept {
    sum = other.sum;
    return *this;
  }
};

TEST_P(worker_locals, sums_of_all_iterations_come_out) {
  run([] {
    heddle::worker_local<long> sums;
    heddle::parallel_for(
        0, 10000, [&](int i) { sums.with([&](long& sum) { sum += i; }); }, heddle::loop_options{.grain = 16});
    EXPECT_EQ(sums.combine(0L, [](long a, long b) { return a + b; }), 10000L * 9999 / 2);
  });
}

TEST_P(worker_locals, a_value_is_its_users_alone_while_that_waits) {
  run([] {
    heddle::worker_local<exclusive> values;
    std::atomic<int> doubly{0};
    std::vector<heddle::jthread> all;
    for (int i = 0; i < 60; ++i) {
      all.emplace_back([&] {
        for (int j = 0; j < 20; ++j) {
          values.with([&](exclusive& value) {
            if (value.inside.fetch_add(1) != 0) ++doubly;
            heddle::this_thread::yield();  // others run on this worker meanwhile, and this thread may go on elsewhere
            value.sum += 1;
            value.inside.fetch_sub(1);
          });
        }
      });
    }
    all.clear();
    long total = 0;
    values.for_each([&](exclusive& value) { total += value.sum; });
    EXPECT_EQ(total, 60 * 20);
    EXPECT_EQ(doubly.load(), 0);
  });
}

TEST_P(worker_locals, nested_uses_have_values_of_their_own) {
  run([] {
    heddle::worker_local<int> values([] { return 7; });
    values.with([&](int& outer) {
      values.with([&](int& inner) {
        EXPECT_NE(&outer, &inner);
        EXPECT_EQ(inner, 7);
        inner = 1;
      });
      EXPECT_EQ(outer, 7);
    });
  });
}

TEST(a_worker_local, a_value_comes_back_when_its_user_throws) {
  heddle::worker_local<int> values;
  int* first = nullptr;
  EXPECT_THROW(values.with([&](int& value) {
    first = &value;
    throw std::runtime_error("out");
  }),
               std::runtime_error);
  values.with([&](int& value) { EXPECT_EQ(&value, first); });
}

TEST(a_worker_local, foreign_kernel_threads_may_use_it) {
  heddle::worker_local<long> sums;
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 4; ++i) {
      all.emplace_back([&] {
        for (int j = 0; j < 1000; ++j) sums.with([](long& sum) { ++sum; });
      });
    }
  }
  EXPECT_EQ(sums.combine(0L, [](long a, long b) { return a + b; }), 4000);
}

HEDDLE_OVER_RUNTIMES(worker_locals);

}  // namespace
}  // namespace worker_local_test

// Stages of pipelines under schedules that differ at every atomic operation: order, exclusion, and that every item
// comes through.
#include <gtest/gtest.h>

#include <optional>

#include <heddle/parallel_pipeline.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace {

auto numbers(int n) {
  return [next = 0, n]() mutable -> std::optional<int> { return next < n ? std::optional(next++) : std::nullopt; };
}

TEST(pipelines, stages_keep_the_order_and_have_one_item_at_a_time) {
  for (const unsigned n : {2u, 3u}) {
    expect_right([n] {
      runtime home(workers(n));
      on(home, [] {
        constexpr int items = 5;
        int last = -1, passed = 0;
        std::atomic<int> in_middle{0};
        // three tokens: cells of the ordered stage are used again
        parallel_pipeline({.tokens = 3}, stage::serial_in_order(numbers(items)),
                          stage::parallel([](int i) { return i; }), stage::serial_out_of_order([&](int i) {
                            require(++in_middle == 1);
                            require(--in_middle == 0);
                            ++passed;
                            return i;
                          }),
                          stage::serial_in_order([&](int i) { require(i == ++last); }));
        require(passed == items && last == items - 1);
      });
    });
  }
}

TEST(pipelines, a_parallel_source_and_an_end_that_keeps_its_order) {
  expect_right([] {
    runtime home(workers(3));
    on(home, [] {
      std::atomic<int> next{0};
      std::atomic<int> inside{0};
      int passed = 0;
      parallel_pipeline({.tokens = 2}, stage::parallel([&]() -> std::optional<int> {
                          const int i = next++;
                          return i < 4 ? std::optional(i) : std::nullopt;
                        }),
                        stage::serial_in_order([&](int) {
                          require(++inside == 1);
                          ++passed;
                          require(--inside == 0);
                        }));
      require(passed == 4);
    });
  });
}

}  // namespace
}  // namespace heddle::sim

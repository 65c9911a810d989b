// Stages of pipelines under schedules that differ at every atomic operation: order, exclusion, and that every item
// comes through.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>

#include <heddle/parallel_pipeline.hpp>
#include <heddle/semaphore.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace pipeline_test {
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

// Tokens wait at a serial stage, behind which there is more to do: whoever leaves the stage stays there and lets them
// go.
TEST(pipelines, what_leaves_a_crowded_stage_is_taken_on) {
  for (const unsigned n : {2u, 3u}) {
    expect_right([n] {
      runtime home(workers(n));
      on(home, [] {
        constexpr int items = 6;
        std::atomic<int> inside{0}, passed{0};
        std::array<std::atomic<int>, items> seen{};
        parallel_pipeline({.tokens = 4}, stage::serial_in_order(numbers(items)),
                          stage::parallel([](int i) { return i; }), stage::serial_out_of_order([&](int i) {
                            require(++inside == 1);
                            this_thread::pause();
                            require(--inside == 0);
                            return i;
                          }),
                          stage::parallel([&](int i) {
                            if (i == 1) this_thread::pause();
                            return i;
                          }),
                          stage::parallel([&](int i) {
                            require(++seen[static_cast<std::size_t>(i)] == 1);
                            ++passed;
                          }));
        require(passed == items);
      });
    });
  }
}

// An item that waits, in the source or behind it, lets the others go on; there is always somebody who comes for them.
TEST(pipelines, stages_wait_for_earlier_items) {
  for (const unsigned n : {1u, 2u, 3u}) {
    expect_right([n] {
      runtime home(workers(n));
      on(home, [] {
        constexpr int items = 5;
        counting_semaphore<> left(2);
        std::array<binary_semaphore, items> done{binary_semaphore(0), binary_semaphore(0), binary_semaphore(0),
                                                 binary_semaphore(0), binary_semaphore(0)};
        int next = 0, passed = 0;
        parallel_pipeline({.tokens = 3}, stage::serial_in_order([&]() -> std::optional<int> {
                            if (next == items) return std::nullopt;
                            left.acquire();
                            return next++;
                          }),
                          stage::parallel([&](int i) {
                            if (i % 2 == 1) done[static_cast<std::size_t>(i) - 1].acquire();
                            return i;
                          }),
                          stage::serial_in_order([&](int i) {
                            require(i == passed++);
                            done[static_cast<std::size_t>(i)].release();
                            left.release();
                          }));
        require(passed == items);
      });
    });
  }
}

// A runner that stays in a stage waits there for the item that it has let go. That item waits for another item, for
// which there is a token.
TEST(pipelines, who_stays_in_a_stage_leaves_the_rest_to_others) {
  for (const unsigned n : {1u, 2u, 3u}) {
    expect_right([n] {
      runtime home(workers(n));
      on(home, [] {
        constexpr std::size_t items = 5;
        struct event : binary_semaphore {
          event() : binary_semaphore(0) {}
        };
        std::array<event, items + 2> begun, done;
        begun[items].release();
        begun[items + 1].release();
        std::size_t next = 0, passed = 0;
        const auto source = [&] { return next < items ? std::optional(next++) : std::nullopt; };
        const auto begin = [&](std::size_t i) {
          begun[i].release();
          return i;
        };
        parallel_pipeline({.tokens = 3}, stage::serial_in_order(source), stage::parallel(begin),
                          stage::serial_in_order([&](std::size_t i) {
                            if (i > 0) done[i - 1].acquire();
                            return i;
                          }),
                          stage::parallel([&](std::size_t i) {
                            begun[i + 2].acquire();
                            done[i].release();
                          }));
        next = 0;
        for (std::size_t i = 0; i < 2; ++i) begun[i].acquire();
        begun[items].release();
        parallel_pipeline({.tokens = 2}, stage::serial_in_order(source), stage::parallel(begin),
                          stage::serial_in_order([&](std::size_t i) {
                            begun[i + 1].acquire();
                            ++passed;
                          }));
        require(passed == items);
      });
    });
  }
}

TEST(pipelines, an_exception_ends_all) {
  expect_right([] {
    runtime home(workers(3));
    on(home, [] {
      int thrown = 0;
      try {
        parallel_pipeline({.tokens = 3}, stage::serial_in_order(numbers(6)), stage::parallel([](int i) {
                            if (i == 3) throw i;
                            return i;
                          }),
                          stage::serial_out_of_order([](int i) { return i; }), stage::serial_in_order([](int) {}));
      } catch (int i) {
        thrown = i;
      }
      require(thrown == 3);
    });
  });
}

// The gate of the source beside the word that says whether somebody is invited ([pipeline:4]): tokens that nobody has
// are always somebody's to come for.
TEST(pipelines, tokens_at_a_free_source_are_come_for) {
  expect_right([] {
    runtime home(workers(3));
    on(home, [] {
      std::array<detail::pipeline_token, 2> tokens;
      detail::source_gate gate;
      for (detail::pipeline_token& t : tokens) gate.put(t);
      std::atomic<bool> is_offered{false};
      std::atomic<int> calls{0}, inside{0};
      const auto make_offer = [&] { is_offered.store(true); };
      const auto runner = [&](detail::pipeline_token* mine) {
        for (;;) {
          mine = gate.enter(mine);
          if (mine == nullptr) return;
          require(++inside == 1);
          const bool last = ++calls >= 4;
          require(--inside == 0);
          if (gate.leave()) make_offer();
          if (!last) continue;
          if (gate.give(*mine)) make_offer();
          return;
        }
      };
      parallel_invoke([&] { runner(nullptr); }, [&] { runner(nullptr); });
      // all have gone: both tokens are here, and somebody is invited
      require(is_offered.load());
      require(gate.enter(nullptr) != nullptr);
      require(gate.leave());
      require(gate.enter(nullptr) != nullptr);
      require(!gate.leave());
    });
  });
}

}  // namespace
}  // namespace pipeline_test
}  // namespace heddle::sim

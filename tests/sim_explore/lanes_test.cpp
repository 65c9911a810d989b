// Loops in lanes (src/loop/lanes.md) under schedules that differ at every atomic operation: that each iteration runs
// once, and that iterations may wait for each other, whichever comes first in the range.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include <heddle/parallel_for.hpp>
#include <heddle/semaphore.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace {

constexpr std::size_t most = 16;

// The body as loop_tree.hpp wants it.
template <class F>
struct each_iteration {
  using result = detail::nothing_returned;
  F& body;
  void operator()(result&, std::size_t low, std::size_t high) {
    for (; low != high; ++low) body(low);
  }
};

// As parallel_for does where nothing is known of the site, whatever other schedules have learnt: batches of one.
template <class F>
void loop(std::size_t n, F&& body) {
  detail::loop_site site;
  each_iteration<F> work{body};
  detail::run_in_lanes(detail::loop_chunks::of(work), n, site, {}, detail::loop_begin().workers, true);
}

template <std::size_t Workers, std::size_t N>
void once() {
  runtime home(workers(Workers));
  on(home, [] {
    std::array<std::atomic<int>, most> ended{};
    int sum = 0;
    loop(N, [&](std::size_t i) {
      if (i % 3 == 0) this_thread::pause();
      require(++ended[i] == 1);
    });
    for (std::size_t i = 0; i < N; ++i) sum += ended[i].load();  // what the iterations wrote is here
    require(sum == static_cast<int>(N));
  });
}

// Each iteration waits for the next one: all are under way at the same time, some of them as guests without a lane.
template <std::size_t Workers, std::size_t N>
void backwards() {
  runtime home(workers(Workers));
  on(home, [] {
    std::vector<std::unique_ptr<semaphore>> turn;
    for (std::size_t i = 0; i <= N; ++i) turn.push_back(std::make_unique<semaphore>(i == N ? 1 : 0));
    loop(N, [&](std::size_t i) {
      turn[i + 1]->acquire();
      turn[i]->release();
    });
    require(turn[0]->try_acquire());
  });
}

// Loops in the iterations of a loop: what the outer one has left is shown while the inner one runs.
void nested() {
  runtime home(workers(2));
  on(home, [] {
    std::array<std::atomic<int>, 9> ended{};
    loop(3, [&](std::size_t i) { loop(3, [&](std::size_t k) { require(++ended[3 * i + k] == 1); }); });
    for (const auto& n : ended) require(n.load() == 1);
  });
}

void thrown() {
  runtime home(workers(3));
  on(home, [] {
    bool caught = false;
    std::array<std::atomic<int>, 9> began{};
    try {
      loop(9, [&](std::size_t i) {
        require(++began[i] == 1);
        this_thread::pause();
        if (i == 4) throw 1;
      });
    } catch (int) {
      caught = true;
    }
    require(caught);
  });
}

constexpr scenario scenarios[] = {{"two", once<2, 7>},
                                  {"three", once<3, 8>},
                                  {"five", once<5, 12>},
                                  {"backwards alone", backwards<1, 5>},
                                  {"backwards", backwards<2, 5>},
                                  {"backwards by more than there are lanes", backwards<2, 8>},
                                  {"backwards on three", backwards<3, 6>},
                                  {"nested", nested},
                                  {"thrown", thrown}};

#if !defined(HEDDLE_MUTANT)

class lanes : public testing::TestWithParam<scenario> {};

TEST_P(lanes, are_right) { expect_right(GetParam().run); }

INSTANTIATE_TEST_SUITE_P(scenarios, lanes, testing::ValuesIn(scenarios), named);

#else

TEST(lanes, some_schedule_shows_the_mistake) { expect_found(scenarios); }

#endif

}  // namespace
}  // namespace heddle::sim

// Loops in ranges (src/loop/ranges.md) under schedules that differ at every atomic operation: that each iteration runs
// once, and that iterations may wait for each other, whichever comes first in the range.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include <heddle/parallel_for.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/thread.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {
namespace ranges_test {
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

// As parallel_for does where nothing is known of the site, whatever other schedules have learnt: batches of one. Dear:
// an iteration takes 10 us, so that the range is divided for all at first. Cheap: a nanosecond, it is said.
enum class site { unknown, dear, cheap };
template <class F>
void loop(std::size_t n, F&& body, site what = site::unknown) {
  detail::loop_site site;
  static_cast<void>(detail::loop_begin());  // the length of a microsecond
  if (what == site::dear) site.observe(1, detail::loop_site::ticks_in(10'000));
  if (what == site::cheap) site.observe(10'000, detail::loop_site::ticks_in(10'000));
  each_iteration<F> work{body};
  detail::run_in_ranges(detail::loop_chunks::of(work), n, site, {}, detail::loop_begin().workers, true);
}

template <std::size_t Workers, std::size_t N, site What = site::unknown>
void once() {
  runtime home(workers(Workers));
  on(home, [] {
    std::array<std::atomic<int>, most> ended{};
    int sum = 0;
    loop(
        N,
        [&](std::size_t i) {
          if (i % 3 == 0) this_thread::pause();
          require(++ended[i] == 1);
        },
        What);
    for (std::size_t i = 0; i < N; ++i) sum += ended[i].load();  // what the iterations wrote is here
    require(sum == static_cast<int>(N));
  });
}

// Each iteration waits for the next one: all are under way at the same time, some of them as helpers without a range.
template <std::size_t Workers, std::size_t N, site What = site::unknown>
void backwards() {
  runtime home(workers(Workers));
  on(home, [] {
    std::vector<std::unique_ptr<semaphore>> turn;
    for (std::size_t i = 0; i <= N; ++i) turn.push_back(std::make_unique<semaphore>(i == N ? 1 : 0));
    loop(
        N,
        [&](std::size_t i) {
          turn[i + 1]->acquire();
          turn[i]->release();
        },
        What);
    require(turn[0]->try_acquire());
  });
}

// The first ones wait for nobody, so that who takes part has moved something before, and has no offer left that is
// its first; each of the others waits for the next one.
template <std::size_t Workers, std::size_t N, std::size_t First, site What = site::unknown>
void backwards_in_the_end() {
  runtime home(workers(Workers));
  on(home, [] {
    std::vector<std::unique_ptr<semaphore>> turn;
    for (std::size_t i = 0; i <= N; ++i) turn.push_back(std::make_unique<semaphore>(i == N ? 1 : 0));
    loop(
        N,
        [&](std::size_t at) {
          const std::size_t i = at < N / 2 ? 2 * at : 2 * (at - N / 2) + 1;  // early and late ones lie in each part
          if (i < First) return this_thread::pause();
          turn[i + 1]->acquire();
          turn[i]->release();
        },
        What);
    require(turn[First]->try_acquire());
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

// The caller can be preempted, and its helpers cannot. So a helper must not spin for what the caller is about to do
// unless the caller stays on its worker until then ([range:3]).
template <std::size_t Workers, std::size_t N, preemption How>
void mixed() {
  runtime_options o = workers(Workers);
  o.preempt_interval = std::chrono::microseconds(10);
  o.preempt_timer = "aligned";
  o.preempt_klt = "direct";
  runtime home(o);
  thread_options can_be_preempted;
  can_be_preempted.where = &home;
  can_be_preempted.preemption = How;
  thread caller(can_be_preempted, [] {
    for (int round = 0; round < 3; ++round) {
      std::array<std::atomic<int>, N> ended{};
      loop(N, [&](std::size_t i) {
        if (i % 3 == 0) this_thread::pause();
        require(++ended[i] == 1);
      });
      for (const auto& n : ended) require(n.load() == 1);
    }
  });
  caller.join();
}

// The same with one worker. The first iteration waits, so a helper begins beside the caller and takes half of the loop.
// All others yield, so the two alternate, and the caller takes from the helper what is left in the end.
void mixed_on_one() {
  runtime_options o = workers(1);
  o.preempt_interval = std::chrono::microseconds(10);
  o.preempt_timer = "aligned";
  o.preempt_klt = "direct";
  runtime home(o);
  thread_options can_be_preempted;
  can_be_preempted.where = &home;
  can_be_preempted.preemption = preemption::klt_switching;
  thread caller(can_be_preempted, [] {
    semaphore helped(0);
    std::atomic<int> begun{0};
    loop(10, [&](std::size_t) {
      const int turn = begun.fetch_add(1);
      if (turn == 0) helped.acquire();
      if (turn == 1) helped.release();
      this_thread::yield();
    });
    require(begun.load() == 10);
  });
  caller.join();
}

// A preemptive thread, alone on its worker, spins for a later iteration: a helper has to begin although the member is
// ready ([range:9]).
void spinning(preemption how) {
  runtime_options o = workers(1);
  o.preempt_interval = std::chrono::microseconds(10);
  o.preempt_timer = "aligned";
  o.preempt_klt = "direct";
  o.preempt = how;
  runtime home(o);
  thread_options where;
  where.where = &home;
  thread caller(where, [] {
    std::atomic<bool> done{false};
    loop(2, [&](std::size_t i) {
      if (i != 0) done.store(true);
      while (!done.load()) this_thread::pause();
    });
  });
  caller.join();
}
void spinning_by_signals() { spinning(preemption::signal_yield); }
void spinning_by_klt() { spinning(preemption::klt_switching); }

// The same with threads that yield while they spin.
void yielding() {
  runtime home(workers(1));
  on(home, [] {
    std::atomic<bool> done{false};
    loop(3, [&](std::size_t i) {
      if (i == 2) done.store(true);
      while (!done.load()) this_thread::yield();
    });
  });
}

constexpr scenario scenarios[] = {{"two", once<2, 7>},
                                  {"three", once<3, 8>},
                                  {"five", once<5, 12>},
                                  {"backwards alone", backwards<1, 5>},
                                  {"backwards", backwards<2, 5>},
                                  {"backwards by more than there are ranges", backwards<2, 8>},
                                  {"backwards on three", backwards<3, 6>},
                                  {"backwards in the end", backwards_in_the_end<2, 10, 6>},
                                  {"backwards in the end on three", backwards_in_the_end<3, 12, 8>},
                                  {"cheap and backwards in the end", backwards_in_the_end<3, 10, 6, site::cheap>},
                                  {"divided", once<3, 8, site::dear>},
                                  {"divided among five", once<5, 12, site::dear>},
                                  {"divided and backwards", backwards<3, 7, site::dear>},
                                  {"cheap and backwards", backwards<2, 6, site::cheap>},
                                  {"nested", nested},
                                  {"thrown", thrown},
                                  {"yielding", yielding},
                                  {"spinning by signals", spinning_by_signals},
                                  {"spinning by klt", spinning_by_klt},
                                  {"mixed on one", mixed_on_one},
                                  {"mixed on two", mixed<2, 6, preemption::klt_switching>},
                                  {"mixed on three", mixed<3, 9, preemption::klt_switching>},
                                  {"mixed by signals", mixed<2, 6, preemption::signal_yield>}};

#if !defined(HEDDLE_MUTANT)

class ranges : public testing::TestWithParam<scenario> {};

TEST_P(ranges, are_right) { expect_right(GetParam().run); }

INSTANTIATE_TEST_SUITE_P(scenarios, ranges, testing::ValuesIn(scenarios), named);

#else

TEST(ranges, some_schedule_shows_the_mistake) { expect_found(scenarios); }

#endif

}  // namespace
}  // namespace ranges_test
}  // namespace heddle::sim

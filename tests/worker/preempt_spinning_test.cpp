// Time slices are short while threads spin, and only then ([slice:4] of src/worker/preemption/ticks.md).
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <vector>

#include "support/preemption.hpp"

namespace preempt_spinning_test {
namespace {

using namespace std::chrono_literals;
using heddle::preemption;
using heddle_test::in;
using steady = std::chrono::steady_clock;

heddle::runtime_options options(unsigned workers, std::optional<std::chrono::nanoseconds> interval) {
  heddle::runtime_options o = heddle_test::options_for(workers);
  o.preempt_interval = interval;
  return o;
}

enum class wait { by_pauses, by_looks };

// How long a thread takes that gives others their time slices so many times, while these wait for its end in a loop.
steady::duration beside_spinning_threads(heddle::runtime& rt, preemption how, wait with) {
  std::atomic<bool> over{false};
  std::vector<heddle::thread> all;
  const steady::time_point begin = steady::now();
  for (int i = 0; i < 2; ++i) {
    all.emplace_back(in(rt, how), [&] {
      while (!over.load(std::memory_order_relaxed)) {
        if (with == wait::by_pauses) heddle::this_thread::pause();
      }
    });
  }
  all.emplace_back(in(rt, how), [&] {
    for (int turn = 0; turn < 100; ++turn) heddle::this_thread::yield();
    over = true;
  });
  for (auto& t : all) t.join();
  return steady::now() - begin;
}

class spinning : public heddle_test::with_ticks<std::tuple<preemption, wait>> {};

// Time slices that are asked for are 1 ms long, as those are that nobody asks for, but for spinning.
TEST_P(spinning, threads_that_spin_have_short_slices) {
  const auto [how, with] = GetParam();
  for (int attempt = 0;; ++attempt) {  // other processes may keep the processor at the wrong moments
    heddle::runtime asked(options(1, 1ms));
    heddle::runtime shortened(options(1, std::nullopt));
    const steady::duration usual = beside_spinning_threads(asked, how, with);
    const steady::duration now = beside_spinning_threads(shortened, how, with);
    if (now < usual / 2) break;
    ASSERT_LT(attempt, 10) << "as asked " << usual.count() << " ns, shortened " << now.count() << " ns";
  }
}

INSTANTIATE_TEST_SUITE_P(preempt, spinning,
                         testing::Combine(testing::Values(preemption::signal_yield, preemption::klt_switching),
                                          testing::Values(wait::by_pauses, wait::by_looks)),
                         [](const auto& info) {
                           return heddle_test::name_of(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) == wait::by_pauses ? "_by_pauses" : "_by_looks");
                         });

class computing : public heddle_test::with_ticks<preemption> {};

TEST_P(computing, threads_that_compute_keep_their_slices) {
  heddle::runtime rt(options(1, std::nullopt));
  std::atomic<std::uint64_t> sum{0};
  std::vector<heddle::thread> all;
  const steady::time_point begin = steady::now();
  for (unsigned seed = 1; seed <= 3; ++seed) {
    all.emplace_back(in(rt, GetParam()), [&, seed] {
      std::uint64_t state = seed;
      for (int i = 0; i < 50'000'000; ++i) state = state * 6364136223846793005u + 1442695040888963407u;
      sum += state;
    });
  }
  for (auto& t : all) t.join();
  const auto turns = static_cast<std::uint64_t>((steady::now() - begin) / 1ms);
  EXPECT_NE(sum.load(), 0u);
  EXPECT_LE(rt.statistics().preemptions, 2 * turns + 10) << "short turns would be 16 times as many";
}

// After those that spin have ended.
TEST_P(computing, the_usual_slices_come_back) {
  heddle::runtime rt(options(1, std::nullopt));
  beside_spinning_threads(rt, GetParam(), wait::by_pauses);
  const std::uint64_t before = rt.statistics().preemptions;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> sum{0};
  std::vector<heddle::thread> all;
  const steady::time_point begin = steady::now();
  for (unsigned seed = 1; seed <= 2; ++seed) {
    all.emplace_back(in(rt, GetParam()), [&, seed] {
      std::uint64_t state = seed;
      while (!stop) state = state * 6364136223846793005u + 1442695040888963407u;
      sum += state;
    });
  }
  std::uint64_t counted = 0, turns = 0;
  heddle_test::repeat(500ms, [&] {
    counted = rt.statistics().preemptions - before;
    turns = static_cast<std::uint64_t>((steady::now() - begin) / 1ms);
  });
  stop = true;
  for (auto& t : all) t.join();
  EXPECT_NE(sum.load(), 0u);
  EXPECT_LE(counted, 2 * turns + 10 + 16'000 / 60);  // those of the time that spinning is remembered for are short
}

INSTANTIATE_TEST_SUITE_P(preempt, computing, testing::Values(preemption::signal_yield, preemption::klt_switching),
                         [](const auto& info) { return heddle_test::name_of(info.param); });

}  // namespace
}  // namespace preempt_spinning_test

// The shares of the processors that equal preemptive threads get, in virtual time: the bounds [fairness:4] to
// [fairness:6] of src/worker/order/fairness.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <heddle/cost.hpp>
#include <heddle/heddle.hpp>

#include "platform/platform.hpp"
#include "sim/session.hpp"

namespace heddle::sim {
namespace fairness_test {
namespace {

constexpr picoseconds interval = 1'000'000'000;  // a time slice: 1 ms

struct share {
  std::uint64_t work{0};        // microseconds
  picoseconds longest_wait{0};  // without a time slice
  picoseconds last{0};
};

struct setting {
  unsigned workers{2};
  unsigned threads{10};
  preemption how{preemption::signal_yield};
  std::string timer{"aligned"};
  std::string policy{"random_ws"};
};

// `threads` that compute from `begin` to `end` (virtual, in intervals; counted from the first one's beginning), and
// what they got of it. `stays(home, begin)`: what each does before; those that it returns false to end there.
template <class F>
std::vector<share> shares(const setting& how, unsigned begin, unsigned end, F&& stays) {
  session_options o;
  o.machine = "skylake-2x28";
  o.charge = charging::annotations;
  const session simulation(o);
  std::vector<share> all(how.threads);
  runtime_options r;
  r.workers = how.workers;
  r.bind = "on";
  r.policy = how.policy;
  r.preempt_interval = std::chrono::milliseconds(1);
  r.preempt_timer = how.timer;
  runtime home(r);
  const picoseconds start = active->now();
  home.run([&] {
    std::vector<thread> made;
    thread_options t;
    t.where = &home;
    t.preemption = how.how;
    for (unsigned i = 0; i < how.threads; ++i) {
      made.emplace_back(t, [&, i] {
        share& mine = all[i];
        if (!stays(home, start)) return;
        while (active->now() < start + end * interval) {
          const picoseconds now = active->now();
          if (now >= start + begin * interval) {
            if (mine.last != 0) mine.longest_wait = std::max(mine.longest_wait, now - mine.last);
            mine.last = now;
            ++mine.work;
          }
          cost::cycles(2500);
        }
      });
    }
    for (thread& one : made) one.join();
  });
  return all;
}

// Of the threads that took part: the most over the least.
double unevenness(const std::vector<share>& all) {
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  for (const share& s : all) {
    if (s.last == 0) continue;
    least = std::min(least, s.work);
    most = std::max(most, s.work);
  }
  return static_cast<double>(most) / static_cast<double>(least);
}

picoseconds longest_wait(const std::vector<share>& all) {
  picoseconds longest = 0;
  for (const share& s : all) longest = std::max(longest, s.longest_wait);
  return longest;
}

const auto at_once = [](runtime&, picoseconds) { return true; };

class equal_threads : public ::testing::TestWithParam<std::tuple<unsigned, unsigned, preemption>> {};

TEST_P(equal_threads, get_equal_shares) {
  setting s;
  std::tie(s.workers, s.threads, s.how) = GetParam();
  const unsigned round = (s.threads + s.workers - 1) / s.workers;  // time slices until all have had one
  const auto all = shares(s, 2 * round, 52 * round, at_once);
  RecordProperty("unevenness", std::to_string(unevenness(all)));
  EXPECT_LE(unevenness(all), 1.1);
  EXPECT_LE(longest_wait(all), (round + 2) * interval);
}

INSTANTIATE_TEST_SUITE_P(fairness, equal_threads,
                         ::testing::Combine(::testing::Values(2u, 3u, 8u), ::testing::Values(3u, 5u, 10u, 24u, 61u),
                                            ::testing::Values(preemption::signal_yield, preemption::klt_switching)),
                         [](const auto& p) {
                           return std::to_string(std::get<0>(p.param)) + "_workers_" +
                                  std::to_string(std::get<1>(p.param)) +
                                  (std::get<2>(p.param) == preemption::signal_yield ? "_signal_yield"
                                                                                    : "_klt_switching");
                         });

// All that run on the first worker at some moment end: what the other
// one has comes over, a thread a time slice, until both have as many.
TEST(fairness, an_uneven_start_evens_out) {
  setting s;
  s.threads = 80;
  constexpr unsigned parting = 100;  // in intervals
  // a time slice each for those that are to end, then at most one for each that comes over
  constexpr unsigned evened = parting + 60;
  const auto all = shares(s, evened, evened + 1000, [](runtime& home, picoseconds start) {
    int rank = 0;
    while (active->now() < start + parting * interval) {
      rank = home.worker_rank();
      cost::cycles(2500);
    }
    return rank != 0;
  });
  EXPECT_GE(std::count_if(all.begin(), all.end(), [](const share& one) { return one.work != 0; }), 20);
  EXPECT_LE(unevenness(all), 1.1);
}

// Behind a thread that ends no time slice nobody waits for longer than it takes the other worker to see that.
TEST(fairness, who_waits_behind_one_that_is_not_preemptive_is_taken_over) {
  session_options o;
  o.machine = "skylake-2x28";
  o.charge = charging::annotations;
  const session simulation(o);
  runtime_options r;
  r.workers = 2;
  r.preempt_interval = std::chrono::milliseconds(1);
  runtime home(r);
  std::atomic<int> ended{0};
  const picoseconds start = active->now();
  picoseconds last = 0;
  home.run([&] {
    std::vector<thread> made;
    thread_options t;
    t.where = &home;
    t.preemption = preemption::signal_yield;
    for (int i = 0; i < 4; ++i) {
      made.emplace_back(t, [&] {
        cost::cycles(10 * 2.5e6);
        ended.fetch_add(1);
        last = std::max(last, active->now());
      });
    }
    cost::cycles(1000 * 2.5e6);  // the calling thread, which is not preemptive, keeps its worker
    EXPECT_EQ(ended.load(), 4);
    for (thread& one : made) one.join();
  });
  EXPECT_LT(last, start + 60 * interval);
}

// --- levels --------------------------------------------------------------------------------------------------------

// The shares of two workers' time that threads of two levels get, which both always compute, and the longest time that
// a thread of the lower level went without a time slice.
struct levels_got {
  double lower;
  picoseconds longest_wait;
};
levels_got between_levels(int lower, int higher, unsigned lows, priority_mode mode, unsigned turns) {
  session_options o;
  o.machine = "skylake-2x28";
  o.charge = charging::annotations;
  const session simulation(o);
  runtime_options r;
  r.workers = 2;
  r.bind = "on";
  r.preempt_interval = std::chrono::milliseconds(1);
  r.priority_mode = mode;
  r.priority_aging = turns;
  runtime home(r);
  std::vector<share> low(lows);
  std::vector<share> high(2);
  const picoseconds end = active->now() + 1000 * interval;
  const auto compute = [&](share& mine) {
    mine.last = active->now();
    while (active->now() < end) {
      mine.longest_wait = std::max(mine.longest_wait, active->now() - mine.last);
      mine.last = active->now();
      ++mine.work;
      cost::cycles(2500);
    }
  };
  home.run([&] {
    std::vector<thread> made;
    thread_options t;
    t.where = &home;
    t.preemption = preemption::signal_yield;
    t.priority = priority{lower};
    for (share& one : low) made.emplace_back(t, [&compute, &one] { compute(one); });
    t.priority = priority{higher};
    for (share& one : high) made.emplace_back(t, [&compute, &one] { compute(one); });
    for (thread& one : made) one.join();
  });
  std::uint64_t of_low = 0, all = 0;
  for (const share& one : low) of_low += one.work;
  for (const share& one : high) all += one.work;
  return {static_cast<double>(of_low) / static_cast<double>(all + of_low), longest_wait(low)};
}

class two_levels : public ::testing::TestWithParam<std::tuple<int, int, unsigned>> {};

// A starved thread has a time slice after 20, no worker gives away more
// than one in 20, and a time slice is half an interval to one and a half.
TEST_P(two_levels, the_lower_one_gets_little_and_never_nothing) {
  const auto [lower, higher, lows] = GetParam();
  constexpr unsigned turns = 20;
  const levels_got aged = between_levels(lower, higher, lows, priority_mode::aging, turns);
  std::printf("%d under %d, %u: %.4f, waits %.1f\n", lower, higher, lows, aged.lower,
              static_cast<double>(aged.longest_wait) / static_cast<double>(interval));
  EXPECT_LE(aged.lower, 1.5 / turns);
  EXPECT_GE(aged.lower, std::min(lows, 2u) * 0.25 / turns / 2);
  EXPECT_LE(aged.longest_wait, (turns + 3) * (1 + (lows + 1) / 2) * interval);
  const levels_got strict = between_levels(lower, higher, lows, priority_mode::strict, turns);
  EXPECT_LE(strict.lower, 0.001);  // what they do before the higher ones have been made, and after these have ended
}

INSTANTIATE_TEST_SUITE_P(fairness, two_levels,
                         ::testing::Combine(::testing::Values(-2, 0, 1), ::testing::Values(2),
                                            ::testing::Values(1u, 2u, 8u)),
                         [](const auto& p) {
                           const int lower = std::get<0>(p.param);
                           return std::string(lower < 0    ? "low"
                                              : lower == 0 ? "normal"
                                                           : "high") +
                                  "_" + std::to_string(std::get<2>(p.param));
                         });

}  // namespace
}  // namespace fairness_test
}  // namespace heddle::sim

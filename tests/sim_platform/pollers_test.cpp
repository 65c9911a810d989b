// How often pollers are asked, and by whom, in virtual time.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include <heddle/cost.hpp>
#include <heddle/heddle.hpp>

#include "platform/platform.hpp"
#include "sim/session.hpp"

namespace heddle::sim {
namespace pollers_test {
namespace {

using namespace std::chrono_literals;

constexpr double millisecond = 2.5e6;  // cycles

struct outcome {
  std::uint64_t asks{0}, by_workers{0};
  picoseconds time{0};
};

// body(runtime) on a thread of one with so many workers, while a poller is wanted, or not.
template <class F>
outcome asked(unsigned workers, bool wanted, F&& body) {
  session_options o;
  o.machine = "skylake-2x28";
  o.charge = charging::annotations;
  const session simulation(o);
  runtime_options r;
  r.workers = workers;
  r.bind = "on";
  runtime home(r);
  outcome result;
  std::atomic<std::uint64_t> by_workers{0};
  poller p(home, {.bound = 100us, .gap = 5us}, [&] {
    if (home.worker_rank() >= 0) ++by_workers;
    cost::cycles(500);
    return 0;
  });
  if (wanted) p.want();
  home.run([&] {
    const picoseconds start = active->now();
    const std::uint64_t before = p.asks();
    body(home);
    result = {p.asks() - before, by_workers.load(), active->now() - start};
  });
  return result;
}

void sleep_for_10ms() {
  const std::chrono::nanoseconds end(platform::now() + 10'000'000);
  this_thread::sleep_until(std::chrono::steady_clock::time_point(end));
}

// As many leaves as workers.
void leaves(const runtime& home, double cycles) {
  std::vector<thread> all;
  for (unsigned i = 1; i < home.workers(); ++i) all.emplace_back([=] { cost::cycles(cycles); });
  cost::cycles(cycles);
  for (thread& t : all) t.join();
}

TEST(pollers_in_virtual_time, the_bound_is_kept_while_all_compute) {
  const outcome seen = asked(4, true, [](runtime& home) { leaves(home, 10 * millisecond); });
  EXPECT_GE(seen.asks, 90u);  // each 100 us and what a wake-up and the ask take
  EXPECT_LE(seen.asks, 110u);
}

TEST(pollers_in_virtual_time, the_bound_is_kept_while_all_sleep) {
  const outcome seen = asked(4, true, [](runtime&) { sleep_for_10ms(); });
  EXPECT_GE(seen.asks, 90u);
  EXPECT_LE(seen.asks, 110u);
}

TEST(pollers_in_virtual_time, workers_that_change_threads_ask_more_often) {
  const outcome seen = asked(1, true, [](runtime&) {
    const auto turns = [] {
      for (int i = 0; i < 4000; ++i) {
        cost::cycles(millisecond / 1000);
        this_thread::yield();
      }
    };
    thread other(turns);
    turns();
    other.join();
  });
  EXPECT_GE(seen.by_workers, 55u);  // every second of the picks that are the 61st
  EXPECT_LE(seen.asks, 2 * seen.by_workers);
}

TEST(pollers_in_virtual_time, an_unwanted_one_costs_nothing) {
  const auto body = [](runtime& home) {
    leaves(home, millisecond);
    sleep_for_10ms();
  };
  const outcome seen = asked(4, false, body);
  EXPECT_EQ(seen.asks, 0u);
  EXPECT_EQ(seen.time, asked(4, false, body).time);
}

}  // namespace
}  // namespace pollers_test
}  // namespace heddle::sim

// The costs of an idle runtime and of a short gap between loops: Rayon #642, LLVM #195239.
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/sleep.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "support/fib.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace idle_test {
namespace {

using namespace std::chrono_literals;

// A sanitizer's own kernel thread works, too. A worker that does not sleep uses 1.
constexpr double idle_use = heddle_test::sanitized ? 0.10 : 0.01;
constexpr int attempts = 10;

double seconds_on(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Processor time of the whole process over wall time, while this kernel thread sleeps.
double use_during(std::chrono::milliseconds interval) {
  const double cpu = seconds_on(CLOCK_PROCESS_CPUTIME_ID), wall = seconds_on(CLOCK_MONOTONIC);
  std::this_thread::sleep_for(interval);
  return (seconds_on(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (seconds_on(CLOCK_MONOTONIC) - wall);
}

// The least of several: workers may be late to fall asleep on a busy
// machine, but one that polls uses a processor every time.
double least_use(double enough) {
  double least = use_during(300ms);
  for (int i = 1; i < attempts && least >= enough; ++i) least = std::min(least, use_during(300ms));
  return least;
}

TEST(rayon_642_idle, a_runtime_without_work_uses_no_processor) {
  for (unsigned workers : {1u, 2u, 8u}) {
    heddle::runtime rt({.workers = workers});
    rt.run([] { heddle_test::fib(16); });
    EXPECT_LT(least_use(idle_use), idle_use) << workers << " workers";
  }
}

TEST(rayon_642_idle, nor_does_one_whose_threads_all_wait) {
  heddle::runtime rt({.workers = 4});
  heddle::counting_semaphore<> go(0);
  std::vector<heddle::thread> parked;
  for (int i = 0; i < 100; ++i) parked.emplace_back(heddle::thread_options{.where = &rt}, [&] { go.acquire(); });
  EXPECT_LT(least_use(idle_use), idle_use);
  go.release(100);
  for (auto& t : parked) t.join();
}

TEST(rayon_642_idle, a_timer_wakes_one_worker_not_all) {
  heddle::runtime rt({.workers = 4});
  std::atomic<bool> over{false};
  std::atomic<long> ticks{0};
  heddle::thread timer({.where = &rt}, [&] {
    while (!over.load()) {
      heddle::this_thread::sleep_for(10ms);
      ++ticks;
    }
  });
  const double enough = heddle_test::sanitized ? 0.25 : 0.08;
  double use = 1;
  for (int i = 0; i < attempts && use >= enough; ++i) {
    const auto before = rt.statistics().parks;
    const long ticked = ticks.load();
    use = use_during(500ms);
    const auto parks = rt.statistics().parks - before;
    const long ticked_now = ticks.load() - ticked;
    // Four workers that all woke would park four times a tick.
    EXPECT_LT(parks, static_cast<std::uint64_t>(3 * ticked_now + 20));
  }
  EXPECT_LT(use, enough);
  EXPECT_GT(ticks.load(), 0);
  over = true;
  timer.join();
}

// Both workers must take part: each half waits for the other to have begun.
void rendezvous() {
  std::atomic<int> there{0};
  const auto half = [&] {
    ++there;
    while (there.load() < 2) std::this_thread::yield();
  };
  heddle::parallel_invoke(half, half);
}

TEST(llvm_195239_gap, a_short_gap_costs_no_kernel_sleep) {
  heddle_test::watchdog guard("short gaps");
  constexpr int gaps = 200;
  constexpr unsigned spin = 200'000;
  heddle::runtime rt({.workers = 2, .bind = "off", .spin = spin});
  rt.run([&] {
    for (int i = 0; i < 20; ++i) rendezvous();
    // Between two meetings the second worker searches, beginning after the first meeting's begin and ending before the
    // second's end. If these lie less than `spin` apart, by this kernel thread's clock, it had no reason to sleep,
    // however busy the machine is. An interval that was longer may shorten its next searches, and so excuses one sleep.
    std::uint64_t sleeps = 0, excused = 1;
    int judged = 0;
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < gaps; ++i) {
      const auto before = rt.statistics().parks;
      while (std::chrono::steady_clock::now() < begin + 20us) {
      }
      const auto next = std::chrono::steady_clock::now();
      rendezvous();
      const bool judge = std::chrono::steady_clock::now() - begin < std::chrono::microseconds(spin / 2);
      const auto parks = rt.statistics().parks - before;
      begin = next;
      if (judge) sleeps += parks;
      else ++excused;
      judged += judge ? 1 : 0;
    }
    EXPECT_LE(sleeps, excused) << "in " << judged << " short gaps of " << gaps;
    if (judged < gaps / 4)
      GTEST_SKIP() << "only " << judged << " of " << gaps << " gaps were short: this machine is too busy to tell";
  });
}

TEST(llvm_195239_gap, the_knob_is_what_keeps_it_awake) {
  heddle_test::watchdog guard("sleep in every gap");
  heddle::runtime rt({.workers = 2, .bind = "off", .spin = 0});
  rt.run([&] {
    for (int i = 0; i < 20; ++i) {
      rendezvous();
      // Without the knob the second worker sleeps, however short the
      // gap will turn out: the watchdog ends a wait in vain.
      const auto before = rt.statistics().parks;
      rendezvous();
      while (rt.statistics().parks == before) std::this_thread::yield();
    }
  });
}

}  // namespace
}  // namespace idle_test

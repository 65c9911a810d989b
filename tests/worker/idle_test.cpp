// What an idle runtime costs, and what a short gap between loops costs: Rayon #642, LLVM #195239.
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/sleep.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace {

using namespace std::chrono_literals;

// A sanitizer's own kernel thread works, too.
constexpr double idle_use = heddle_test::sanitized ? 0.10 : 0.01;

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

long fib(long n) {
  if (n < 2) return n;
  auto [x, y] = heddle::parallel_invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return x + y;
}

TEST(rayon_642_idle, a_runtime_without_work_uses_no_processor) {
  for (unsigned workers : {1u, 2u, 8u}) {
    heddle::runtime rt({.workers = workers});
    rt.run([] { fib(16); });
    use_during(50ms);  // until the workers sleep
    EXPECT_LT(use_during(1500ms), idle_use) << workers << " workers";
  }
}

TEST(rayon_642_idle, nor_does_one_whose_threads_all_wait) {
  heddle::runtime rt({.workers = 4});
  heddle::counting_semaphore<> go(0);
  std::vector<heddle::thread> parked;
  for (int i = 0; i < 100; ++i) parked.emplace_back(heddle::thread_options{.where = &rt}, [&] { go.acquire(); });
  use_during(50ms);
  EXPECT_LT(use_during(1500ms), idle_use);
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
  use_during(50ms);
  const auto before = rt.statistics().parks;
  const long ticked = ticks.load();
  const double use = use_during(1500ms);
  const auto parks = rt.statistics().parks - before;
  const long ticked_now = ticks.load() - ticked;
  over = true;
  timer.join();
  EXPECT_LT(use, heddle_test::sanitized ? 0.25 : 0.08);
  EXPECT_GT(ticked_now, 0);
  EXPECT_LT(parks, static_cast<std::uint64_t>(3 * ticked_now + 20));  // four workers that all woke would park four times a tick
}

// Both workers must take part: each half waits for the other to have begun.
void rendezvous() {
  std::atomic<int> there{0};
  const auto half = [&] {
    ++there;
    while (there.load() < 2) {}
  };
  heddle::parallel_invoke(half, half);
}

std::uint64_t parks_in_gaps(unsigned spin, int gaps) {
  heddle::runtime rt({.workers = 2, .bind = "off", .spin = spin});
  return rt.run([&] {
    for (int i = 0; i < 20; ++i) rendezvous();
    const auto before = rt.statistics().parks;
    for (int i = 0; i < gaps; ++i) {
      const auto until = std::chrono::steady_clock::now() + 20us;
      while (std::chrono::steady_clock::now() < until) {}
      rendezvous();
    }
    return rt.statistics().parks - before;
  });
}

TEST(llvm_195239_gap, a_short_gap_costs_no_kernel_sleep) {
  heddle_test::watchdog guard("short gaps");
  const int gaps = 200;
  // A preempted worker may find itself asleep afterwards; a worker that sleeps in each gap does so 200 times.
  EXPECT_LT(parks_in_gaps(5000, gaps), static_cast<std::uint64_t>(gaps / 4));
}

TEST(llvm_195239_gap, the_knob_is_what_keeps_it_awake) {
  heddle_test::watchdog guard("short gaps");
  const int gaps = 200;
  EXPECT_GT(parks_in_gaps(0, gaps), parks_in_gaps(5000, gaps));
}

}  // namespace

// CPU time of a runtime that has nothing to do, in percent of one processor. "quiet": the workers
// are started, do one fork-join, then the program sleeps for --n seconds. "timer": every
// millisecond a task is run. "timer_fork": every millisecond a task of one fork-join, whose second
// half may wake a worker. The runtime `serial` shows what a bare loop of 1 ms sleeps costs.
#pragma once

#include <sys/resource.h>

#include <thread>
#include <utility>

#include "harness/kernel.hpp"

namespace heddle::bench {

struct idle {
  static constexpr std::size_t default_n = 10;  // seconds
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  static double cpu_seconds() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
  }

  template <class Body>
  static double percent(Body&& body) {
    const double before = cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    return 100 * (cpu_seconds() - before) / wall.count();
  }

  template <class Backend>
  static void execute(context& c) {
    Backend backend(c.options());
    std::uint64_t left = 0, right = 0;
    const auto fork = [&] { Backend::invoke([&left] { ++left; }, [&right] { ++right; }); };
    const std::chrono::seconds length(c.n());
    backend.run(fork);
    // One sample a process: a runtime may go to sleep in steps, and what came before must not
    // count.
    if (c.wants("quiet"))
      print_metric("quiet", "%", {percent([&] { std::this_thread::sleep_for(length); })}, left - right);
    const auto each_millisecond = [&](const auto& once) {
      std::uint64_t ticks = 0;
      const double used = percent([&] {
        const auto end = std::chrono::steady_clock::now() + length;
        if constexpr (requires { backend.every(std::chrono::milliseconds(1), end, once, ticks); }) {
          backend.every(std::chrono::milliseconds(1), end, once, ticks);
        } else {
          for (; std::chrono::steady_clock::now() < end; ++ticks) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            backend.run(once);
          }
        }
      });
      return std::pair(used, ticks);
    };
    if (c.wants("timer")) {
      const auto [used, ticks] = each_millisecond([&left] { ++left; });
      print_metric("timer", "%", {used}, left - right - ticks);
      left = right;
    }
    if (c.wants("timer_fork")) {
      const auto [used, ticks] = each_millisecond(fork);
      print_metric("timer_fork", "%", {used}, left + right - 2 * (ticks + 1));
    }
  }
};

}  // namespace heddle::bench

// One fork and one join. "pair": two empty halves, ns per fork-join. "coarse": two halves of 1 ms each, microseconds
// from the fork to the start of the half that another worker has to fetch; a half that no worker fetches starts after
// 1,000. The coarse sample is the median of its joins; "coarse_p90" shows the tail. "... from main": each fork is a
// call of the program's main thread from outside the runtime, instead of all from inside one call; a twentieth as many
// pairs.
#pragma once

#include <algorithm>

#include "harness/cost.hpp"
#include "harness/kernel.hpp"

namespace heddle::bench {

struct join {
  static constexpr std::size_t default_n = 1'000'000;  // fork-joins of empty halves a sample
  static constexpr std::size_t coarse_joins = 50;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  using clock = std::chrono::steady_clock;

  static void busy(std::chrono::microseconds length) {
    const auto end = clock::now() + length;
    while (clock::now() < end) {
    }
  }

  // Two halves of 1 ms; when the later one started, in microseconds after the fork. `around(f)` runs f, which is one
  // fork: right here, inside the runtime, or as a call from outside.
  template <class Backend, class Around>
  static double second_start(std::uint64_t& halves, Around&& around) {
    clock::time_point first, second;
    const auto fork = clock::now();
    around([&] {
      Backend::invoke(
          [&first] {
            first = clock::now();
            busy(std::chrono::microseconds(1000));
          },
          [&second] {
            second = clock::now();
            busy(std::chrono::microseconds(1000));
          });
    });
    halves += 2;
    return std::chrono::duration<double, std::micro>(std::max(first, second) - fork).count();
  }

  template <class Backend, class Around>
  static void coarse(context& c, const std::string& from, Around&& around) {
    std::uint64_t halves = 0;
    std::vector<double> medians, tails;
    for (unsigned round = 0; round < c.options().warmup + c.options().samples; ++round) {
      std::vector<double> starts;
      for (std::size_t i = 0; i < coarse_joins; ++i) {
        starts.push_back(second_start<Backend>(halves, around));
        busy(std::chrono::microseconds(50));
      }
      std::sort(starts.begin(), starts.end());
      if (round < c.options().warmup) continue;
      medians.push_back(starts[starts.size() / 2]);
      tails.push_back(starts[starts.size() * 9 / 10]);
    }
    print_metric("coarse" + from, "us", medians, 2);
    print_metric("coarse_p90" + from, "us", tails, 2);
  }

  template <class Backend, class Around>
  static void pair(context& c, std::size_t n, const std::string& from, Around&& around) {
    std::uint64_t left = 0, right = 0;
    c.measure(
        "pair" + from, "ns", 1e9 / static_cast<double>(n), [&] { left = right = 0; },
        [&] {
          told::choose([&]<told::telling Tell>() {
            for (std::size_t i = 0; i < n; ++i) {
              around([&] {
                Backend::invoke(
                    [&left] {
                      told::cycles_if<Tell>(1);
                      asm volatile("" ::: "memory");
                      ++left;
                    },
                    [&right] {
                      told::cycles_if<Tell>(1);
                      asm volatile("" ::: "memory");
                      ++right;
                    });
              });
            }
          });
        },
        [&] { return left * 2 + right; });
  }

  template <class Backend>
  static void execute(context& c) {
    Backend backend(c.options());
    const auto rows = [&c](std::size_t pairs, const std::string& from, auto&& around) {
      if (c.wants("pair")) pair<Backend>(c, pairs, from, around);
      if (c.wants("coarse")) coarse<Backend>(c, from, around);
    };
    backend.run([&] { rows(c.n(), "", [](auto&& f) { f(); }); });
    if (told::model() != nullptr) return;  // a simulated main thread has no processing unit
    rows(c.n() / 20 + 1, " from main", [&](auto&& f) { backend.run(f); });
  }
};

}  // namespace heddle::bench

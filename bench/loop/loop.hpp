// Parallel loops, in microseconds a loop.
// "n=..": equal trivial iterations (y += a x in floats), 2, 1,000, 100,000 and 10^7 of them. They show what a runtime
// adds to a loop too short to share, what it takes to share a longer one, and whether it keeps one that streams memory
// in order.
// "triangle=..": iteration i takes i steps. "spike": of 1,000 iterations the last 64th holds nearly all work. "first",
// "last": the first or the last of 1,000 takes as long as all others together. "tail": of 1,000 a part 1 / k takes k
// times the least or longer, wherever in the loop. Runtimes with several schedules have a row for each ("spike,
// guided"). The row without a schedule is the best of them; for heddle it is the one that a loop has by default.
// --variant even or uneven: only the rows of equal iterations, or only the others.
// "... from main": each loop is a call of the program's main thread from outside the runtime, instead of all from
// inside one call. For OpenMP the two are the same.
// --n gives one length in place of all this. The sign of a alternates, so the sums stay small integers. Both arrays
// begin at a cache line, and not at the same place of a page, because the place that the allocator happened to choose
// decided more than the runtime did (5 or 9 us for 100,000 on one core).
#pragma once

#include <memory>
#include <vector>

#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/random.hpp"
#include "harness/schedules.hpp"

namespace heddle::bench {

struct loop {
  static constexpr std::size_t default_n = 0;
  template <class Backend>
  static constexpr bool supports = Backend::loops;

  // Declares line by line, on the worker that has a line's first element: one vector instruction each to load, to
  // multiply and add, to store.
  static void tell_line(const float* from, float* to, std::size_t k) {
    constexpr std::size_t line = 64 / sizeof(float);
    if (k % line != 0) return;
    told::read(from + k, 64);
    told::write(to + k, 64);
    told::cycles(3);
  }

  // `around(f)` runs f, which is one loop: right here, inside the runtime, or as a call from outside.
  template <class Backend, class Around>
  static void time(context& c, std::size_t n, const std::string& from, Around&& around) {
    // Even, so that the result is the input again; about as long for every length.
    const std::size_t usual = n <= 1000 ? 20'000 : n <= 100'000 ? 600 : 6;
    const std::size_t loops =
        (n <= 100'000 ? c.iterations(usual) : std::min(c.iterations(usual), usual)) & ~std::size_t{1};
    constexpr std::size_t line = 64 / sizeof(float);
    const std::size_t apart = (n + line - 1) / line * line + 17 * line;
    std::vector<float> memory(2 * apart + line);
    void* begin = memory.data();
    std::size_t room = memory.size() * sizeof(float);
    float* const x = static_cast<float*>(std::align(64, 2 * apart * sizeof(float), begin, room));
    float* const y = x + apart;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = static_cast<float>(i % 16);
      y[i] = static_cast<float>(i % 7);
    }
    c.measure(
        "n=" + std::to_string(n) + from, "us", 1e6 / static_cast<double>(loops), [] {},
        [&] {
          told::choose([&]<told::telling Tell>() {
            float a = 1;
            for (std::size_t i = 0; i < loops; ++i) {
              around([&] {
                Backend::loop(n, [a, x, y](std::size_t k) {
                  if constexpr (Tell == told::telling::yes) tell_line(x, y, k);
                  y[k] += a * x[k];
                });
              });
              a = -a;
            }
          });
        },
        [&] {
          std::uint64_t sum = 0;
          for (std::size_t i = 0; i < n; ++i) sum += static_cast<std::uint64_t>(y[i]) * (i + 1);
          return sum;
        });
  }

  // A chain of `count` steps that no compiler shortens.
  static std::uint64_t steps(std::uint64_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      value += i ^ value;
      asm volatile("" : "+r"(value));
    }
    return value;
  }

  // Iteration i takes length(i) steps.
  template <class Backend, class Around, class Length>
  static void time_uneven(context& c, const std::string& metric, Around&& around, std::size_t n, std::size_t loops,
                          Length length) {
    loops = std::min(loops, c.iterations(loops));
    std::vector<std::uint64_t> results(n);
    const auto body = [length, to = results.data()](std::size_t i) {
      told::cycles(2 * static_cast<double>(length(i)));
      to[i] = steps(i, length(i));
    };
    by_schedules<Backend>(metric, "us", [&](const std::string& name, const auto& loop) {
      return c.take(
          name, 1e6 / static_cast<double>(loops), [&] { std::fill(results.begin(), results.end(), 0); },
          [&] {
            for (std::size_t i = 0; i < loops; ++i) around([&] { loop(n, body); });
          },
          [&] {
            std::uint64_t sum = 0;
            for (std::size_t i = 0; i < n; ++i) sum = sum * 31 + results[i];
            return sum;
          });
    });
  }

  template <class Backend>
  static void execute(context& c) {
    Backend backend(c.options());
    const bool even = c.wants("even"), uneven = c.wants("uneven");
    const auto rows = [&c, even, uneven](const std::string& from, auto&& around) {
      if (c.n() != 0) return time<Backend>(c, c.n(), from, around);
      if (even)
        for (const std::size_t n : {2, 1000, 100'000, 10'000'000}) time<Backend>(c, n, from, around);
      if (!uneven) return;
      const auto triangle = [](std::size_t i) { return i; };
      time_uneven<Backend>(c, "triangle=300" + from, around, 300, 2000, triangle);
      time_uneven<Backend>(c, "triangle=3000" + from, around, 3000, 50, triangle);
      time_uneven<Backend>(c, "spike" + from, around, 1000, 200,
                           [](std::size_t i) { return std::size_t{i >= 1000 - 1000 / 64 ? 30'000u : 10u}; });
      time_uneven<Backend>(c, "first" + from, around, 1000, 200,
                           [](std::size_t i) { return std::size_t{i == 0 ? 300'000u : 300u}; });
      time_uneven<Backend>(c, "last" + from, around, 1000, 200,
                           [](std::size_t i) { return std::size_t{i == 999 ? 300'000u : 300u}; });
      time_uneven<Backend>(c, "tail" + from, around, 1000, 200,
                           [](std::size_t i) { return 30 * 1024 / (1 + mix64(i) % 1024); });
    };
    backend.run_loops([&] { rows("", [](auto&& f) { f(); }); });
    if (told::model() != nullptr) return;  // a simulated main thread has no processing unit
    rows(" from main", [&](auto&& f) { backend.run_loops(f); });
  }
};

}  // namespace heddle::bench

// Parallel loops of equal trivial iterations (y += a x in floats) of 2, 1,000 and 100,000:
// microseconds a loop. What a runtime adds to a loop too short to share, and what it takes to share
// a longer one.
// --n gives one length in place of the three. The sign of a alternates, so the sums stay small
// integers. Both arrays begin at a cache line, and not at the same place of a page: where the
// allocator happened to put them decided more than the runtime did (5 or 9 us for 100,000 on one core).
#pragma once

#include <memory>
#include <vector>

#include "harness/cost.hpp"
#include "harness/kernel.hpp"

namespace heddle::bench {

struct loop {
  static constexpr std::size_t default_n = 0;
  template <class Backend>
  static constexpr bool supports = Backend::loops;

  // Line by line, by whoever has a line's first element: one vector instruction each to load, to multiply and add, to store.
  static void tell_line(const float* from, float* to, std::size_t k) {
    constexpr std::size_t line = 64 / sizeof(float);
    if (k % line != 0) return;
    told::read(from + k, 64);
    told::write(to + k, 64);
    told::cycles(3);
  }

  template <class Backend>
  static void time(context& c, std::size_t n) {
    // Even, so that the result is the input again; about as long for every length.
    const std::size_t loops = c.iterations(n <= 1000      ? 20'000
                                           : n <= 100'000 ? 600
                                                          : 6) &
                              ~std::size_t{1};
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
        "n=" + std::to_string(n), "us", 1e6 / static_cast<double>(loops), [] {},
        [&] {
          told::choose([&]<told::telling Tell>() {
            float a = 1;
            for (std::size_t i = 0; i < loops; ++i) {
              Backend::loop(n, [a, from = x, to = y](std::size_t k) {
                if constexpr (Tell == told::telling::yes) tell_line(from, to, k);
                to[k] += a * from[k];
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

  template <class Backend>
  static void execute(context& c) {
    Backend backend(c.options());
    backend.run_loops([&] {
      if (c.n() != 0) return time<Backend>(c, c.n());
      for (const std::size_t n : {std::size_t{2}, std::size_t{1000}, std::size_t{100'000}})
        time<Backend>(c, n);
    });
  }
};

}  // namespace heddle::bench

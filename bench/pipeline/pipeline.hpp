// Items through a pipeline of three stages: a serial source, a parallel stage, and a serial sink that keeps the order;
// nanoseconds an item. "empty": the stages do next to nothing. "computing": the parallel stage computes for about half
// a microsecond. The serial program calls one stage after the other.
#pragma once

#include <cstdint>
#include <optional>

#include "backend/common.hpp"
#include "harness/kernel.hpp"

namespace heddle::bench {

struct pipeline {
  static constexpr std::size_t default_n = 1'000'000;
  static constexpr std::size_t tokens = 32;
  template <class Backend>
  static constexpr bool supports = Backend::pipelines;

  static std::uint64_t mix(std::uint64_t x, unsigned rounds) {
    for (unsigned i = 0; i < rounds; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
  }

  template <class Backend>
  static std::uint64_t flow(std::uint64_t n, unsigned rounds) {
    std::uint64_t next = 0, at = 0, sum = 0;
    Backend::pipe(
        tokens, [&]() -> std::optional<std::uint64_t> { return next < n ? std::optional(next++) : std::nullopt; },
        [rounds](std::uint64_t x) { return mix(x, rounds); }, [&](std::uint64_t x) { sum += x * (++at % 64); });
    return sum;
  }

  template <class Backend>
  static void time(context& c, const char* metric, std::uint64_t n, unsigned rounds) {
    std::uint64_t sum = 0;
    c.measure(
        metric, "ns", 1e9 / static_cast<double>(n), [&] { sum = 0; }, [&] { sum = flow<Backend>(n, rounds); },
        [&] { return sum; });
  }

  template <class Backend>
  static void execute(context& c) {
    constexpr unsigned empty = 1, computing = 400;
    const std::uint64_t n = c.n(), fewer = n / 10 + 1;
    Backend backend(c.options());
    backend.run([&] {
      if (c.wants("empty")) time<Backend>(c, "empty", n, empty);
      if (c.wants("computing")) time<Backend>(c, "computing", fewer, computing);
    });
  }
};

}  // namespace heddle::bench

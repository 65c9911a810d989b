// Values through one channel, from one thread to another: nanoseconds a value, from the start of both threads to their
// end. "unbounded": no send waits. "capacity=1024": the sender waits for room, the receiver for values. Runtimes
// without threads of their own use kernel threads.
#pragma once

#include <cstdint>

#include "backend/common.hpp"
#include "harness/kernel.hpp"

namespace heddle::bench {

struct channel {
  static constexpr std::size_t default_n = 10'000'000;
  template <class Backend>
  static constexpr bool supports = Backend::is_serial || requires { typename Backend::line; };

  template <class Backend>
  static void time(context& c, const char* metric, std::size_t capacity) {
    std::uint64_t sum = 0;
    c.measure(
        metric, "ns", 1e9 / static_cast<double>(c.n()), [&] { sum = 0; },
        [&] {
          typename Backend::line values(capacity);
          typename Backend::line_thread sender([&] {
            for (std::uint64_t i = 1; i <= c.n(); ++i) values.send(i);
            values.close();
          });
          typename Backend::line_thread receiver([&] {
            std::uint64_t at = 0;
            while (const auto value = values.receive()) sum += *value * (++at % 64);
          });
          sender.join();
          receiver.join();
        },
        [&] { return sum; });
  }

  static std::uint64_t expected(std::uint64_t n) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 1; i <= n; ++i) sum += i * (i % 64);
    return sum;
  }

  template <class Backend>
  static void execute(context& c) {
    if constexpr (Backend::is_serial) {
      c.expect("unbounded", expected(c.n()));
      c.expect("capacity=1024", expected(c.n()));
    } else {
      Backend backend(c.options());
      backend.run([&] {
        if constexpr (Backend::unbounded_lines) {
          if (c.wants("unbounded")) time<Backend>(c, "unbounded", 0);
        }
        if (c.wants("capacity=1024")) time<Backend>(c, "capacity=1024", 1024);
      });
    }
  }
};

}  // namespace heddle::bench

// Fibonacci without a cutoff: nothing but forks and joins. One spawn per inner node, the second
// branch called directly, so ns per spawn = time / (F(n+1) - 1), the calls included. Origin: Cilk
// (Frigo, Leiserson, Randall 1998). Not inlined into itself: gcc flattens the plain recursion seven
// levels deep, which would measure another program.
// Declared costs: an inner node and its share of leaves, fib_cycles.
// "... from main": each tree is a call of the program's main thread from outside the runtime.
// Hints: 2 to 1, as in section 4.4.5 of the ADWS thesis (1.618 to 1 would be exact).
#pragma once

#include <string>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"

namespace heddle::bench {

constexpr std::uint64_t fib_spawns(std::size_t n) {
  std::uint64_t a = 1, b = 1;  // F(1), F(2)
  for (std::size_t i = 1; i < n; ++i) {
    const std::uint64_t c = a + b;
    a = b;
    b = c;
  }
  return n == 0 ? 0 : b - 1;
}

// The cost in the serial program of a node and the leaves below it that it has on average.
constexpr double fib_cycles = 6.5;

template <class Backend, told::telling Tell = told::telling::no>
[[gnu::noinline]] std::uint64_t fib_task(unsigned n) {
  if (n < 2) return n;
  told::cycles_if<Tell>(fib_cycles);
  return add<Backend>(
      hint{2, 1}, [n] { return fib_task<Backend, Tell>(n - 1); }, [n] { return fib_task<Backend, Tell>(n - 2); });
}

struct fib {
  static constexpr std::size_t default_n = 35;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    Backend backend(c.options());
    const auto row = [&c](const std::string& from, auto&& around) {
      std::uint64_t result = 0;
      const auto n = static_cast<unsigned>(c.n());
      const auto spawns = static_cast<double>(fib_spawns(c.n()));
      c.measure(
          "ns_per_spawn" + from, "ns", 1e9 / (spawns > 0 ? spawns : 1), [] {},
          [&] {
            around([&] { result = told::choose([n]<told::telling Tell>() { return fib_task<Backend, Tell>(n); }); });
          },
          [&] { return result; });
    };
    backend.run([&] { row("", [](auto&& f) { f(); }); });
    if (told::model() != nullptr) return;  // a simulated main thread has no processing unit
    row(" from main", [&](auto&& f) { backend.run(f); });
  }
};

}  // namespace heddle::bench

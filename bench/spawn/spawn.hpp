// Children started one by one in a group. Each may block, so in general none can live on its parent's stack. "tree":
// fib, with one group a node, one child run in it, and the other branch called directly; ns per spawn as in the kernel
// fib. "flat": 256 empty children of one group, then wait; ns per child.
#pragma once

#include "fib/fib.hpp"
#include "harness/kernel.hpp"

namespace heddle::bench {

template <class Backend, told::telling Tell = told::telling::no>
[[gnu::noinline]] std::uint64_t spawn_task(unsigned n) {
  if (n < 2) return n;
  told::cycles_if<Tell>(fib_cycles);
  std::uint64_t x = 0;
  typename Backend::group group;
  group.run([&x, n] { x = spawn_task<Backend, Tell>(n - 1); });
  const std::uint64_t y = spawn_task<Backend, Tell>(n - 2);
  group.wait();
  return x + y;
}

struct spawn {
  static constexpr std::size_t default_n = 32;
  static constexpr std::size_t batch = 256;
  static constexpr std::size_t batches = 400;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    Backend backend(c.options());
    backend.run([&] {
      if (c.wants("tree")) {
        std::uint64_t result = 0;
        const auto spawns = static_cast<double>(fib_spawns(c.n()));
        c.measure(
            "tree", "ns", 1e9 / (spawns > 0 ? spawns : 1), [] {},
            [&] {
              result = told::choose(
                  [&c]<told::telling Tell>() { return spawn_task<Backend, Tell>(static_cast<unsigned>(c.n())); });
            },
            [&] { return result; });
      }
      if (c.wants("flat")) {
        std::vector<std::uint64_t> ran(batch);
        c.measure(
            "flat", "ns", 1e9 / static_cast<double>(batch * batches), [&] { ran.assign(batch, 0); },
            [&] {
              told::choose([&ran]<told::telling Tell>() {
                for (std::size_t b = 0; b < batches; ++b) {
                  typename Backend::group group;
                  for (std::size_t i = 0; i < batch; ++i) {
                    group.run([slot = &ran[i]] {
                      told::cycles_if<Tell>(1);
                      ++*slot;
                    });
                  }
                  group.wait();
                }
              });
            },
            [&] {
              std::uint64_t sum = 0;
              for (const auto r : ran) sum += r;
              return sum;
            });
      }
    });
  }
};

}  // namespace heddle::bench

// As many leaves as workers, which have all been idle for 20 ms. The kernel shows whether every worker comes. A leaf
// sleeps in the kernel for n milliseconds, so it also measures more workers than processors. "tree": the leaves as
// tasks, time over that of one leaf; 1 when all begin at once, 2 when one of them waits for another's end.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "backend/common.hpp"
#include "harness/kernel.hpp"

namespace heddle::bench {

struct wide {
  static constexpr std::size_t default_n = 5;  // milliseconds of a leaf
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    if constexpr (Backend::is_serial) {  // one after the other: the result alone
      (void)c.iterations(9);             // the others' regions, which make no difference here
      c.expect("tree", 1);
    } else {
      using clock = std::chrono::steady_clock;
      const auto leaf = std::chrono::milliseconds(c.n());
      const auto leaves = static_cast<int>(c.options().workers);
      const std::size_t regions = c.iterations(9);
      Backend backend(c.options());
      std::uint64_t ran = 0;
      backend.run([&] {
        c.collect(
            "tree", "x",
            [&] {
              std::vector<double> times;
              ran = 0;
              for (std::size_t i = 0; i < regions; ++i) {
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                const auto begin = clock::now();
                ran += Backend::sum(leaves, [leaf](int) -> std::uint64_t {
                  std::this_thread::sleep_for(leaf);
                  return 1;
                });
                times.push_back(std::chrono::duration<double>(clock::now() - begin) / leaf);
              }
              std::sort(times.begin(), times.end());
              return times[times.size() / 2];
            },
            [&] { return ran / (regions * static_cast<std::size_t>(leaves)); });
      });
    }
  }
};

}  // namespace heddle::bench

// Executors that show a dependence on the schedule: orders that no runtime takes by chance, and real concurrency.
#pragma once

#include "bench/decision_tree/executor.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace heddle::bench::decision_tree {

// Second branch first, loops from the back in pieces of one grain. Both are entered as the serial one is.
struct backward_executor : serial_executor {
  static constexpr bool serial = false;

  template <class F, class G>
  void invoke(F&& f, G&& g, fork_hint) {
    g();
    f();
  }
  template <class Body>
  void parallel_for(std::size_t first, std::size_t last, std::size_t grain, Body&& body) {
    while (last > first) {
      std::size_t const from = last - first > grain ? last - grain : first;
      body(from, last);
      last = from;
    }
  }
};

// A kernel thread for every branch and for every piece of a loop, `threads` at a time.
struct thread_executor : serial_executor {
  static constexpr bool serial = false;
  std::size_t threads = 4;
  [[nodiscard]] unsigned workers() const { return static_cast<unsigned>(threads); }

  template <class F, class G>
  void invoke(F&& f, G&& g, fork_hint) {
    std::thread other(f);
    g();
    other.join();
  }
  template <class Body>
  void parallel_for(std::size_t first, std::size_t last, std::size_t grain, Body&& body) {
    std::atomic<std::size_t> next{first};
    std::vector<std::thread> team;
    for (std::size_t i = 0; i < threads; ++i) {
      team.emplace_back([&] {
        for (std::size_t at = next.fetch_add(grain); at < last; at = next.fetch_add(grain))
          body(at, std::min(last, at + grain));
      });
    }
    for (auto& member : team) member.join();
  }
};

static_assert(executor<backward_executor>);
static_assert(executor<thread_executor>);

}  // namespace heddle::bench::decision_tree

// A parallel region of two parts, each of which waits (spinning) until the other has begun: both
// workers must take part. "hot": regions back to back. "idle20": after 20 ms in which the program
// sleeps. Microseconds a region, the join included. The runtime `futex` is the floor on this
// machine: one kernel thread wakes another and spins until it has come.
#pragma once

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"

namespace heddle::bench {

struct rendezvous {
  static constexpr std::size_t default_n = 20'000;  // hot regions a sample
  static constexpr int idle_regions = 20;
  template <class Backend>
  static constexpr bool supports = Backend::is_serial || requires { Backend::pair([](int) {}); };

  class meeting {
   public:
    void arrive() {
      const int mine = arrived_.fetch_add(1);
      const int both = (mine | 1) + 1;
      while (arrived_.load() < both) told::pause();
    }
    // Arrivals since the last call.
    std::uint64_t count() {
      const int before = counted_;
      counted_ = arrived_.load();
      return static_cast<std::uint64_t>(counted_ - before);
    }

   private:
    alignas(64) std::atomic<int> arrived_ = 0;
    int counted_ = 0;
  };

  template <class Region>
  static void time(context& c, meeting& m, Region&& region) {
    using clock = std::chrono::steady_clock;
    if (c.wants("hot")) {
      c.measure(
          "hot", "us", 1e6 / static_cast<double>(c.n()), [] {},
          [&] {
            for (std::size_t i = 0; i < c.n(); ++i) region();
          },
          [&] { return m.count() / c.n(); });
    }
    if (c.wants("idle20")) {
      c.collect(
          "idle20", "us",
          [&] {
            std::vector<double> waits;
            for (int i = 0; i < idle_regions; ++i) {
              std::this_thread::sleep_for(std::chrono::milliseconds(20));
              const auto begin = clock::now();
              region();
              waits.push_back(std::chrono::duration<double, std::micro>(clock::now() - begin).count());
            }
            std::sort(waits.begin(), waits.end());
            return waits[waits.size() / 2];
          },
          [&] { return m.count() / idle_regions; });
    }
  }

  template <class Backend>
  static void execute(context& c) {
    if constexpr (Backend::is_serial) {  // cannot meet anybody: the results alone
      c.expect("hot", 2);
      c.expect("idle20", 2);
    } else {
      if (c.options().workers < 2) throw std::invalid_argument("rendezvous needs two workers");
      Backend backend(c.options());
      meeting m;
      backend.run_loops([&] { time(c, m, [&m] { Backend::pair([&m](int) { m.arrive(); }); }); });
    }
  }
};

}  // namespace heddle::bench

// User-level threads: create and join one at a time, and 256 at a time; yield between two threads
// and among 1,000. ns per thread, ns per yield. Origin: the Argobots and MassiveThreads papers'
// tables.
#pragma once

#include <algorithm>
#include <optional>

#include "harness/cost.hpp"
#include "harness/kernel.hpp"

namespace heddle::bench {

struct thread {
  static constexpr std::size_t default_n = 102'400;  // threads, or yields, a sample
  template <class Backend>
  static constexpr bool supports = Backend::threads;

  template <class Backend>
  static void create(context& c, const char* metric, std::size_t batch) {
    const std::size_t rounds = std::max<std::size_t>(1, c.n() / batch);
    std::vector<std::uint64_t> ran(batch);
    std::vector<std::optional<typename Backend::thread>> live(batch);
    c.measure(
        metric, "ns", 1e9 / static_cast<double>(rounds * batch), [&] { std::fill(ran.begin(), ran.end(), 0); },
        [&] {
          told::choose([&]<told::telling Tell>() {
            for (std::size_t round = 0; round < rounds; ++round) {
              for (std::size_t i = 0; i < batch; ++i) {
                live[i].emplace([slot = &ran[i]] {
                  told::cycles_if<Tell>(1);
                  ++*slot;
                });
              }
              for (auto& t : live) t->join();
            }
          });
        },
        [&] {
          std::uint64_t sum = 0;
          for (const auto r : ran) sum += r;
          return sum;
        });
    for (auto& t : live) t.reset();
  }

  template <class Backend>
  static void yield(context& c, const char* metric, std::size_t threads) {
    const std::size_t yields = std::max<std::size_t>(1, c.n() / threads);
    std::vector<std::uint64_t> done(threads);
    c.measure(
        metric, "ns", 1e9 / static_cast<double>(yields * threads), [&] { std::fill(done.begin(), done.end(), 0); },
        [&] {
          std::vector<std::optional<typename Backend::thread>> live(threads);
          told::choose([&]<told::telling Tell>() {
            for (std::size_t t = 0; t < threads; ++t) {
              live[t].emplace([slot = &done[t], yields] {
                for (std::size_t i = 0; i < yields; ++i) {
                  Backend::yield();
                  told::cycles_if<Tell>(1);
                  ++*slot;
                }
              });
            }
          });
          for (auto& t : live) t->join();
        },
        [&] {
          std::uint64_t sum = 0;
          for (const auto d : done) sum += d;
          return sum;
        });
  }

  template <class Backend>
  static void execute(context& c) {
    Backend backend(c.options());
    backend.run([&] {
      if (c.wants("create_1")) create<Backend>(c, "create_1", 1);
      if (c.wants("create_256")) create<Backend>(c, "create_256", 256);
      if (c.wants("yield_2")) yield<Backend>(c, "yield_2", 2);
      if (c.wants("yield_1000")) yield<Backend>(c, "yield_1000", 1000);
    });
  }
};

}  // namespace heddle::bench

// A genetic algorithm whose islands have four loads (bench/ga): batches of n tasks that are made at four places in the
// program, one for each load, in an order that changes from batch to batch. `--leaf` tells how many islands have each
// of the three heavier loads; the others have the lightest. It is the program of Chen and Guo, section 5.10.4: on the
// fast cores of their machine the heaviest tasks take less than 10 ms and the lightest less than 200 us, as here at 2.5
// GHz. The loads between them are ours.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "backend/common.hpp"
#include "ga/ga.hpp"
#include "harness/kernel.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

inline constexpr std::array<std::size_t, 4> ga_load_generations{1200, 600, 250, 25};

struct ga_loads {
  static constexpr std::size_t default_n = 128, default_iterations = 10;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  // Each load is a function of its own, so that runtimes which tell tasks by their code tell the loads.
  template <std::size_t Load>
  struct task {
    ga_island* island;
    void operator()() const { island->develop(ga_load_generations[Load]); }
  };
  template <class Backend, std::size_t... Load>
  static void make(typename Backend::group& group, std::size_t load, ga_island& island, std::index_sequence<Load...>) {
    ((load == Load ? group.run(task<Load>{&island}) : void()), ...);
  }

  template <class Backend>
  static std::vector<ga_island> evolve(const ga_graph& graph, std::size_t islands, std::size_t heavy,
                                       std::size_t batches) {
    static const char batch = 0;
    std::vector<ga_island> all;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < islands; ++i) all.emplace_back(graph, i), order.push_back(i);
    for (std::size_t b = 0; b < batches; ++b) {
      for (std::size_t i = islands - 1; i > 0; --i) std::swap(order[i], order[mix64(b * islands + i) % (i + 1)]);
      next_iteration<Backend>(&batch);
      typename Backend::group group;
      for (const std::size_t i : order)
        make<Backend>(group, std::min<std::size_t>(i / heavy, 3), all[i], std::make_index_sequence<4>{});
      group.wait();
    }
    return all;
  }

  template <class Backend>
  static void execute(context& c) {
    const std::size_t heavy = c.leaf(std::max<std::size_t>(c.n() / 8, 1));
    if (c.n() == 0 || c.n() > 1 << 16 || 3 * heavy > c.n())
      throw std::invalid_argument("--n " + std::to_string(c.n()) + " --leaf " + std::to_string(heavy) +
                                  ": of 1 to 65,536 islands each heavier load has at most a third");
    const std::size_t batches = c.iterations(default_iterations);
    const ga_graph graph;
    std::vector<ga_island> result;
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3, [] {}, [&] { result = evolve<Backend>(graph, c.n(), heavy, batches); },
          [&] {
            digest d;
            for (const ga_island& i : result) d.add(i.best().bits), d.add(i.best().worth);
            return d.value();
          });
    });
  }
};

}  // namespace heddle::bench

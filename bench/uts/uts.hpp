// Counts the nodes of a random tree whose shape is known only by walking it: depth-first spawns, very unbalanced.
// Binomial: 2,000 children at the root, then 8 with probability 0.124875 (4.07 M nodes, 1,360 levels). Geometric: on
// average 4 children a node, cut at level 10 (3.97 M nodes).
// The declared cost is that of a node in the serial program, measured. A real run does not even test whether to declare
// it, because that took 15 %. Origin: Unbalanced Tree Search (Olivier et al. 2007), made lighter: splitmix64 replaces
// SHA-1, so that the cost of scheduling shows. The figures cannot be compared with published UTS figures. --n is the
// seed.
#pragma once

#include <array>

#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

struct uts_binomial {
  static constexpr double node_cycles = 23;
  static constexpr std::uint64_t seed_offset = 0;
  static constexpr std::uint64_t threshold = 2303537166204480256u;  // 0.124875 * 2^64
  static int children(std::uint64_t state, int level) { return level == 0 ? 2000 : state < threshold ? 8 : 0; }
};

struct uts_geometric {
  static constexpr double node_cycles = 43;
  static constexpr std::uint64_t seed_offset = 36;  // with the default seed: a tree as large as the binomial one
  static constexpr int deepest = 10;
  static constexpr int most = 100;
  // Chance of at least k children: 0.8^k, in units of 2^-53; products only, so that every compiler
  // has the same table.
  static constexpr std::array<std::uint64_t, most> thresholds = [] {
    std::array<std::uint64_t, most> t{};
    double p = 1;
    for (auto& x : t) {
      p *= 0.8;
      x = static_cast<std::uint64_t>(p * 9007199254740992.0);
    }
    return t;
  }();
  static int children(std::uint64_t state, int level) {
    if (level >= deepest) return 0;
    int count = 0;
    while (count < most && (state >> 11) < thresholds[static_cast<std::size_t>(count)]) ++count;
    return count;
  }
};

template <class Backend, class Shape, told::telling Tell>
std::uint64_t uts_task(std::uint64_t state, int level) {
  const int count = Shape::children(state, level);
  told::cycles_if<Tell>(Shape::node_cycles);
  if (count == 0) return 1;
  return 1 + Backend::sum(count, [state, level](int i) {
           return uts_task<Backend, Shape, Tell>(mix64(state + static_cast<std::uint64_t>(i) + 1), level + 1);
         });
}

struct uts {
  static constexpr std::size_t default_n = 584;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend, class Shape>
  static void time(context& c, const char* metric) {
    std::uint64_t result = 0;
    const std::uint64_t root = mix64(c.n() + Shape::seed_offset);
    c.measure(
        metric, "ms", 1e3, [] {},
        [&] {
          result = told::choose([root]<told::telling Tell>() { return uts_task<Backend, Shape, Tell>(root, 0); });
        },
        [&] { return result; });
  }

  template <class Backend>
  static void execute(context& c) {
    Backend backend(c.options());
    backend.run([&] {
      if (c.wants("binomial")) time<Backend, uts_binomial>(c, "binomial");
      if (c.wants("geometric")) time<Backend, uts_geometric>(c, "geometric");
    });
  }
};

}  // namespace heddle::bench

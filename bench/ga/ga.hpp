// A genetic algorithm with islands. Each island has a population that develops by itself, in a task of its own. After
// some generations its best individual replaces the worst of the next island. The islands look for the largest cut of a
// graph of 64 points; the bits of an individual say on which side each point is. There are n islands and `--iterations`
// rounds. The kernel is bound by computation. It is "GA" of Chen and Guo, section 3.8; the book says only that there
// are islands. All values are integers, and each island has a random source, so every runtime has the same result.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

inline constexpr std::size_t ga_population = 64, ga_generations = 10;
// An individual: 64 masks and counts of bits, two choices of a parent, crossing and mutation. Counted, not measured.
inline constexpr double ga_individual_cycles = 3 * 64 + 60;

// Joined points of a graph, about half of all pairs; and how many joined pairs lie on both sides.
class ga_graph {
 public:
  ga_graph() {
    for (unsigned i = 0; i < 64; ++i)
      for (unsigned j = i + 1; j < 64; ++j)
        if (mix64(i * 64 + j) % 2 == 0) joined_[i] |= std::uint64_t{1} << j, joined_[j] |= std::uint64_t{1} << i;
  }
  [[nodiscard]] bool joins(unsigned i, unsigned j) const { return (joined_[i] >> j & 1) != 0; }
  [[nodiscard]] std::uint32_t cut(std::uint64_t side) const {
    std::uint32_t pairs = 0;
    for (unsigned i = 0; i < 64; ++i)
      if ((side >> i & 1) != 0) pairs += static_cast<std::uint32_t>(std::popcount(joined_[i] & ~side));
    return pairs;
  }

 private:
  std::array<std::uint64_t, 64> joined_{};
};

class ga_island {
 public:
  struct individual {
    std::uint64_t bits = 0;
    std::uint32_t worth = 0;
  };

  ga_island(const ga_graph& graph, std::uint64_t seed) : graph_(&graph), random_(mix64(seed)) {
    for (individual& i : now_) i = judged(draw());
  }

  // Runs some generations. Parents are the better of two that are drawn. A child has each bit from either parent, and
  // one in 64 of its bits is turned on average. The best individual lives on.
  void develop(std::size_t generations = ga_generations) {
    told::cycles(ga_individual_cycles * ga_population * static_cast<double>(generations));
    for (std::size_t generation = 0; generation < generations; ++generation) {
      std::array<individual, ga_population> next;
      next[0] = best();
      for (std::size_t i = 1; i < ga_population; ++i) {
        const std::uint64_t from_first = draw(), turned = draw() & draw() & draw() & draw() & draw() & draw();
        const std::uint64_t first = parent().bits, second = parent().bits;
        next[i] = judged(((first & from_first) | (second & ~from_first)) ^ turned);
      }
      now_ = next;
    }
  }
  [[nodiscard]] individual best() const {
    return *std::max_element(now_.begin(), now_.end(), [](auto& a, auto& b) { return a.worth < b.worth; });
  }
  void receive(individual guest) {
    *std::min_element(now_.begin(), now_.end(), [](auto& a, auto& b) { return a.worth < b.worth; }) = guest;
  }

 private:
  std::uint64_t draw() { return random_ = mix64(random_); }
  [[nodiscard]] individual judged(std::uint64_t bits) const { return {bits, graph_->cut(bits)}; }
  individual parent() {
    const std::uint64_t r = draw();
    const individual &a = now_[r % ga_population], &b = now_[(r >> 32) % ga_population];
    return a.worth >= b.worth ? a : b;
  }

  const ga_graph* graph_;
  std::uint64_t random_;
  std::array<individual, ga_population> now_;
};

struct ga {
  static constexpr std::size_t default_n = 64, default_iterations = 20;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static std::vector<ga_island> evolve(const ga_graph& graph, std::size_t islands, std::size_t rounds) {
    std::vector<ga_island> all;
    for (std::size_t i = 0; i < islands; ++i) all.emplace_back(graph, i);
    std::vector<ga_island::individual> guests(islands);
    for (std::size_t round = 0; round < rounds; ++round) {
      for_halves<Backend>(0, islands, 1, sizeof(ga_island), 1, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
          told::write(&all[i], sizeof(ga_island));
          all[i].develop();
          guests[i] = all[i].best();
        }
      });
      for (std::size_t i = 0; i < islands; ++i) all[(i + 1) % islands].receive(guests[i]);
    }
    return all;
  }

  template <class Backend>
  static void execute(context& c) {
    if (c.n() == 0 || c.n() > 1 << 20)
      throw std::invalid_argument("--n " + std::to_string(c.n()) + ": there are 1 to 2^20 islands");
    const std::size_t rounds = c.iterations(default_iterations);
    const ga_graph graph;
    std::vector<ga_island> result;
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3, [] {}, [&] { result = evolve<Backend>(graph, c.n(), rounds); },
          [&] {
            digest d;
            for (const ga_island& i : result) d.add(i.best().bits), d.add(i.best().worth);
            return d.value();
          });
    });
  }
};

}  // namespace heddle::bench

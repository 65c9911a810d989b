// The measurements of CAB-GTO and LAWS about the tasks of an iteration: how much data a subtree touches (SOID), and
// whether the program computes more than it touches memory. They come from processor counters if the machine has them,
// and from the model on a simulated machine.
//
// Source: Chen, Guo (2017), sections 3.4.2.2, 4.6.1 and 4.10.5.
//
// Deviations, and why:
// - The book does not give its threshold of misses per instruction, nor how many tasks are "most". cmpi=0.001 and more
//   than half of the tasks that did anything are ours. Simulated instructions are the cycles of computing that a
//   program tells.
// - The book judges a program by its first iteration. That may be an iteration of a loop that sets something up. Here a
//   program is bound by computing after `enough` iterations in a row of places that are, if no place is bound by
//   memory.
// - If counters are missing, the program's declarations replace them: a miss for each line of the bytes of an
//   iteration's outermost group or fork, an instruction for each ns of each worker. That is rough, but programs that
//   compute are far from the threshold. A program that declares no bytes is taken for such a program. cmpi=0 takes
//   none.
// - A program that computes is also recognised after `long_enough`, because `enough` of its iterations may take
//   minutes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <heddle/policy.hpp>
#include "policy/sockets/task_tree.hpp"

namespace heddle::policy {

struct soid_profile {
  bool measured{false};  // whether every task has its misses, and the tree its sizes
  // The source of the misses. declared: the bytes that the program declares replace them.
  source from{source::none};
  bool cpu_bound{false};
  std::uint64_t misses_in_a_million{0};  // misses in a million instructions, of all tasks together

  static constexpr double line = 64;  // bytes

  // The figures to be read for each task.
  static usage_figures figures() noexcept { return {false, false, true, true, false}; }
  static void note(tier_node& n, const task_usage& what) noexcept {
    n.measured = what.private_misses.is_known();
    n.counted = n.measured && what.instructions.is_known();
    n.misses_from = what.private_misses.from;
    n.misses = what.private_misses.value;
    n.instructions = what.instructions.value;
  }
  // Called after an iteration all of whose tasks have been noted.
  static soid_profile of(unsigned self, task_tree& tree, tree_site& s, double cmpi) noexcept {
    soid_profile p;
    p.measured = tree.sum_up(self, s, line);
    if (!p.measured) {
      if (s.root->bytes > 0) p.from = source::declared;
      return p;
    }
    std::uint64_t tasks = 0, computing = 0, misses = 0, instructions = 0;
    task_tree::walk(s.root, [&](tier_node& n) {
      if (!n.counted || (n.misses == 0 && n.instructions == 0)) return true;
      ++tasks;
      p.from = std::max(p.from, n.misses_from);
      computing += static_cast<double>(n.misses) < cmpi * static_cast<double>(n.instructions) ? 1u : 0u;
      misses += n.misses;
      instructions += n.instructions;
      return true;
    });
    p.cpu_bound = 2 * computing > tasks;
    if (instructions != 0)
      p.misses_in_a_million =
          static_cast<std::uint64_t>(1e6 * static_cast<double>(misses) / static_cast<double>(instructions));
    return p;
  }

  // The same if nothing could be measured, from the bytes that the iteration declared and the time that it took.
  static soid_profile guess(const tree_site& s, unsigned workers, double cmpi) noexcept {
    soid_profile p;
    const double lines = s.root->bytes / line, instructions = static_cast<double>(s.elapsed) * workers;
    p.from = lines > 0 ? source::declared : source::none;
    if (instructions <= 0) return p;
    p.cpu_bound = lines < cmpi * instructions;
    p.misses_in_a_million = static_cast<std::uint64_t>(1e6 * lines / instructions);
    return p;
  }

  // Of these texts, the one that says which profile was used.
  struct texts {
    const char* counters;
    const char* simulator;
    const char* declared;
    const char* nothing;
  };
  const char* in_words(const texts& words) const noexcept {
    switch (from) {
      case source::none: return words.nothing;
      case source::declared: return words.declared;
      case source::simulated: return words.simulator;
      default: return words.counters;
    }
  }
};

// Decides whether a program computes, from its places.
class computing_programs {
 public:
  static constexpr unsigned enough = 8;
  static constexpr std::uint64_t long_enough = 20'000'000;  // ns
  // Called when a place has been measured, or guessed at, by the place's root, as `ended` is.
  void measured(const tree_site& s, const soid_profile& p) noexcept {
    misses_[s.number] = p.cpu_bound ? p.misses_in_a_million : not_computing;
    if ((p.measured || p.from != source::none) && !p.cpu_bound) touches_memory_.store(true);
  }
  // Called when an iteration of such a place has ended. Returns true once, if the program is bound by computing.
  bool ended(const tree_site& s) noexcept {
    if (misses_[s.number] == not_computing || touches_memory_.load()) return false;
    const bool now = in_a_row_.fetch_add(1) + 1 >= enough || took_.fetch_add(s.elapsed) + s.elapsed >= long_enough;
    return now && !said_.exchange(true);
  }
  std::uint64_t misses_in_a_million(const tree_site& s) const noexcept { return misses_[s.number]; }

 private:
  static constexpr std::uint64_t not_computing = ~std::uint64_t{0};
  std::uint64_t misses_[task_tree::most_sites]{};
  std::atomic<bool> touches_memory_{false};
  std::atomic<unsigned> in_a_row_{0};
  std::atomic<std::uint64_t> took_{0};
  std::atomic<bool> said_{false};
};

}  // namespace heddle::policy

// What CAB-GTO and LAWS measure of the tasks of an iteration: how much data a subtree touches (SOID), and whether the
// program computes more than it touches memory. From processor counters where the machine has them, from the
// simulator's model there.
//
// Source: Chen, Guo (2017), sections 3.4.2.2, 4.6.1 and 4.10.5.
//
// Deviations, and why:
// - The book's threshold of misses per instruction is not given, nor how many tasks are "most": cmpi=0.001 and more
// than
//   half of the tasks are ours. Simulated instructions are the cycles of computing that a program tells.
// - Where counters are missing nothing is taken for bound by computing, and what the program declares stands in for
// what
//   it touches.
#pragma once

#include <cstdint>

#include <heddle/policy.hpp>
#include "policy/task_tree.hpp"

namespace heddle::policy {

struct soid_profile {
  bool measured{false};  // every task has its misses, and the tree its sizes
  bool cpu_bound{false};
  std::uint64_t misses_in_a_million{0};  // instructions, of all tasks together

  static constexpr double line = 64;  // bytes

  // What is to be read of each task.
  static usage_figures figures() noexcept { return {false, false, true, true, false}; }
  static void note(tier_node& n, const task_usage& what) noexcept {
    n.measured = what.private_misses.is_known();
    n.counted = n.measured && what.instructions.is_known();
    n.misses = what.private_misses.value;
    n.instructions = what.instructions.value;
  }
  // After an iteration all of whose tasks have been noted.
  static soid_profile of(unsigned self, task_tree& tree, tree_site& s, double cmpi) noexcept {
    soid_profile p;
    p.measured = tree.sum_up(self, s, line);
    if (!p.measured) return p;
    std::uint64_t tasks = 0, computing = 0, misses = 0, instructions = 0;
    task_tree::walk(s.root, [&](tier_node& n) {
      if (!n.counted) return true;
      ++tasks;
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
};

}  // namespace heddle::policy

// Multi-level almost deterministic work stealing: ADWS among the memory groups of a level, and within a group, once a
// task's data fits there, among its children. So the tasks that run under a cache at the same time fit into it.
// number_lines.cpp says which groups go down, and where to. Introduction: adws.md.
//
// Source: Shiina, "Efficient thread scheduling strategies for nested parallel programs" (2021), sections 5.3 and 5.4,
// Algorithms 5.2 and 5.3. The head of adws.cpp describes single-level ADWS; all of it holds here at each level.
//
// There are two rules for the capacity with which a group of tasks is compared ("memory group aggregation").
// aggregation=range is that of section 5.3.3, by which the thesis was measured: it sums the capacities over the memory
// groups of the present distribution range. aggregation=group is lines 4 - 10 as printed, which sum over the present
// memory group's descendants.
//
// Deviations, and why:
// - A range that begins inside a memory group and goes down begins with that group's first child. The owner is the
//   group's head, and so need not move.
// - Bytes may be missing. The child of a group whose bytes are known has its share of them by work. Otherwise nothing
//   is known, and such a task goes down to the leaves at once, which is single-level ADWS. (If it stayed above, one
//   worker would run all of it.)
// - A worker also acts for members below its own level, but not above the innermost group that it has opened. A group
//   that skips a level passes tasks to workers which the algorithm as printed leaves at that level.
// - A capacity that the machine does not tell counts as unlimited.
// - Thieves walk up the tree only to the end of their level, because they may not rob groups of other levels.
// - When no worker runs anything, a worker takes a task that waits at another of its levels (stations::rescue). Without
//   that, tasks that wait for each other otherwise than by groups would hang.
#include "policy/adws/adws.hpp"

namespace heddle::policy {

std::unique_ptr<policy> adws::make_ml_adws(parameters& given) {
  layout_rules rules;
  const bool by_group = given.choice("aggregation", "range|group") == 1;
  rules.lines = by_group ? number_lines::kind::by_group : number_lines::kind::by_range;
  rules.by_speed = given.choice("width", "even|speed") == 1;
  rules.steals = given.choice("steal", "on|off") == 0;
  rules.victim = victim_memory::asked_for(given);
  return create<adws>(std::move(rules));
}

}  // namespace heddle::policy

// Multi-level work stealing: random work stealing, child first, among the memory groups of a level; and within a
// group, once a task's data fits there, among its children. See adws.md.
//
// Source: Shiina, "Efficient thread scheduling strategies for nested parallel programs" (2021), section 5.3.1. Levels,
// memory groups and the rule for going down are those of ml_adws.cpp, with aggregation=group, because a task of work
// stealing has no range.
//
// Deviation: the thesis lets any worker of a group lead it, typically the one that completes the last join of a root
// task. Here the group's head leads, and the owner of a group of tasks that went down returns to it at the end.
#include "policy/adws/adws.hpp"

namespace heddle::policy {

std::unique_ptr<policy> adws::make_ml_ws(parameters& given) {
  layout_rules rules;
  rules.lines = number_lines::kind::by_group;
  rules.how = layout_rules::sharing::by_steals;
  rules.victim = victim_memory::asked_for(given);
  return create<adws>(std::move(rules));
}

}  // namespace heddle::policy

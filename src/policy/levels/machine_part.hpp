// A part of a machine, as a machine of its own: the memory groups below one of them, with workers and groups numbered
// from 0. The part reaches either as far down as the machine goes, or to groups that count as one worker each. It
// serves policies that give parts of a machine to other policies.
#pragma once

#include <vector>

#include <heddle/machine.hpp>

namespace heddle::policy {

class machine_part {
 public:
  machine_part() = default;  // a part of which nothing is known
  // Everything below the memory group `root`.
  machine_part(machine::view whole, unsigned root);
  // The groups between `root` and `members`. Together the members hold every worker of `root` once, by rank.
  machine_part(machine::view whole, unsigned root, const std::vector<unsigned>& members);

  // Valid as long as this object lives and is not moved.
  machine::view view() const noexcept { return {groups_, leaves_, units_}; }

 private:
  void copy(machine::view whole, unsigned root, const std::vector<unsigned>& members);

  std::vector<machine::memory_group> groups_;
  std::vector<unsigned> leaves_;  // by worker
  std::vector<machine::processing_unit> units_;
};

// The topmost memory groups of that kind below `root`, by rank. A worker that lies in none is represented by its leaf.
std::vector<unsigned> groups_of_kind(machine::view whole, unsigned root, machine::group_kind kind);

}  // namespace heddle::policy

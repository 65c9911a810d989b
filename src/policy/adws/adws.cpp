// Almost deterministic work stealing (ADWS): the layout of tasks on one level, by work. layout.cpp and
// layout_groups.cpp implement the layout. stations.cpp and layout_search.cpp say what a worker takes next: its own
// tasks and those of others. adws.md has an introduction and the invariants.
//
// Source: Shiina, "Efficient thread scheduling strategies for nested parallel programs" (2021), Algorithms 4.1 - 4.3
// and Appendix A; Shiina, Taura (SC 2019). Their local queue is the worker's fork queue while !uses_migrated. Their
// migration queue is `passed`, above it `migrated`, above it the fork queue while uses_migrated. (POPTASKFROMLOCAL
// empties the local queue before it goes on to the migration queue, so one physical queue serves for both.)
//
// Deviations, and why:
// - A range is split at spawn only while it is a search root's; a task within one worker runs its children first
//   wherever it is (section 4.2.3). Read literally, line 13 would send the children of stolen tasks back to the victim.
// - A search root whose range lies within one worker and reaches its end lays nothing out. It is passed and kept as a
//   search root, and its end activates its group; but all that it could spawn stays with that worker. Read literally,
//   line 4 has it open a group a level down to the leaves, each with a thread, a node and a way back
//   (docs/investigations/adws-real.md).
// - A cut that misses a worker's end inside the range by less than a 64th of a worker is put there. Otherwise the
//   border between two workers would be sought down to the leaves. This rule is ours. Its error is less than that of
//   most hints, and stealing evens it out.
// - `patience=N` (ours; 0 as in the thesis): a worker that has nothing left looks N times at its own queues, some 30 ns
//   each, before it asks others. Where iterations take microseconds, a block that is stolen at the end can cost more
//   than it gains.
// - A group's node becomes active at its owner's wait, whatever is left of the owner's range (section 4.3.3 on figure
//   4.14). Line 22 would never activate a group whose children were all spawned.
// - The group of the root task is found by every worker. Line 7 alone leaves a worker that got no search root without
//   any node.
// - The last worker of a range that ends where the worker does is robbed of both queues, because all that it has is of
//   this group.
// - A thread that waits is woken into its owner's slot, instead of being moved there once it runs.
// - Forks (parallel_invoke, loops) are groups of two whose first half is the one that is not spawned.
// - Hints may be missing. Children then have equal shares among as many as the group was told to expect. If it was told
//   no number, the number is that of the last group with the same code, and two at first. Impossible hints (negative,
//   infinite, a total of zero) count as missing and are reported once. A child of no work stays with its spawner. Cuts
//   closer than 1e-6 to a worker's end are put there.
// - Of the threads that are not children, the first one alive is laid out over all workers. While others are alive, all
//   workers may rob each other, because such threads have no place in the tree.
// - `width=speed` (ours; the thesis has equal workers): a worker's part of the work is in proportion to the speed that
//   the machine declares for its core, on lines whose members have unlike widths (speed_line.hpp).
// - A worker has 512 tree nodes; groups that nest deeper are not laid out.
#include "policy/adws/adws.hpp"

namespace heddle::policy {

std::unique_ptr<policy> adws::make(parameters& given) {
  layout_rules rules;
  rules.steals = given.choice("steal", "on|off") == 0;
  rules.by_speed = given.choice("width", "even|speed") == 1;
  rules.patience = given.whole("patience", 0, 0, 1000);
  rules.victim = victim_memory::asked_for(given);
  return create<adws>(std::move(rules));
}

}  // namespace heddle::policy

/// What a task has used, and from where each figure is known.
#pragma once

#include <cstdint>

namespace heddle::policy {

/// Where a figure comes from, the most exact first among those that are measured.
enum class source : std::uint8_t {
  none,      ///< it is not known, and its value means nothing
  declared,  ///< the machine or its file says so
  counter,   ///< counters of the processor
  clock,     ///< clocks of the kernel
  simulated  ///< the simulator's model
};

struct figure {
  std::uint64_t value{0};
  source from{source::none};
  bool is_known() const noexcept { return from != source::none; }
};

/// Which figures are to be read (policy_wants::figures). Elapsed time costs a look at the processor's counter at a
/// task's beginning and end; each other one a call of the kernel at each switch between tasks, one call for all.
struct usage_figures {
  bool elapsed = true;
  bool processor_time = true;
  bool instructions = true;
  bool misses = true;    ///< private_misses, shared_misses
  bool accesses = true;  ///< local_accesses, remote_accesses
  bool at_switches() const noexcept { return processor_time || instructions || misses || accesses; }
};

/// What one task has used while it ran on workers, from its first turn to its end: not its children, who are tasks
/// themselves, not what ran while it waited, and not what it did in heddle::blocking. A figure of which a part is not
/// known is none; of one that comes from two sources the less exact one is named.
struct task_usage {
  figure elapsed;         ///< ns from the beginning of its first turn to its end, waits included
  figure processor_time;  ///< ns that its kernel threads had a processor meanwhile
  /// Instructions of its own code, not of the kernel. Simulated: cycles of computing that the program tells.
  figure instructions;
  figure private_misses;   ///< lines that the caches of its core alone did not have
  figure shared_misses;    ///< lines that no cache had
  figure local_accesses;   ///< lines from the memory of its own NUMA node
  figure remote_accesses;  ///< lines from that of others
};

}  // namespace heddle::policy

/// The resources that a task has used, and the source of each figure.
#pragma once

#include <cstdint>

namespace heddle::policy {

/// The source of a figure. Of the measured ones the most exact comes first.
enum class source : std::uint8_t {
  none,      ///< the figure is not known, and its value means nothing
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

/// The figures to be read (policy_wants::figures). Elapsed time costs a read of the processor's counter at a task's
/// beginning and end. All other figures together cost one call of the kernel at each switch between tasks.
struct usage_figures {
  bool elapsed = true;
  bool processor_time = true;
  bool instructions = true;
  bool misses = true;    ///< private_misses, shared_misses
  bool accesses = true;  ///< local_accesses, remote_accesses
  bool at_switches() const noexcept { return processor_time || instructions || misses || accesses; }
};

/// The resources that a task has used while it ran on workers, from its first time slice to its end. It does not
/// include its children, which are tasks themselves, nor code that ran while it waited, nor its calls of
/// heddle::blocking. The source of a figure is `none` if a part of it is not known. If a figure comes from two sources,
/// the less exact one is named.
struct task_usage {
  figure elapsed;         ///< ns from the beginning of its first time slice to its end, waits included
  figure processor_time;  ///< ns for which its kernel threads had a processor meanwhile
  /// Instructions of its own code, not of the kernel. In the simulator: the cycles of computing that the program
  /// declares.
  figure instructions;
  figure private_misses;   ///< lines that were in none of the caches of its core alone
  figure shared_misses;    ///< lines that were in no cache
  figure local_accesses;   ///< lines from the memory of its own NUMA node
  figure remote_accesses;  ///< lines from the memory of other nodes
};

}  // namespace heddle::policy

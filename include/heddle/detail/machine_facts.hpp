// Facts about the machine that a library built on heddle needs before there is a runtime.
#pragma once

#include <vector>

#include <heddle/export.hpp>

namespace heddle::detail {

// A processing unit that the process may use, and its place in the machine.
struct unit_facts {
  int number;  // the operating system's number
  unsigned core, package;
  // The number of the outermost cache that serves it, or its core's number if there is none.
  unsigned last_cache;
  int numa;
};

struct machine_facts {
  std::vector<unit_facts> units;  // in the order of the tree of memory groups; at least one
  // The number of workers of a runtime made without options, from HEDDLE_WORKERS, the affinity mask and the quota.
  unsigned workers;
};

// Returns the facts for the calling kernel thread's affinity mask. The machine is read once in a process, which takes
// milliseconds. HEDDLE_ variables with impossible values count as unset here; the constructor of a runtime reports
// them. Throws std::bad_alloc. Thread context: any, but not a signal handler.
HEDDLE_API machine_facts facts_of_machine();

}  // namespace heddle::detail

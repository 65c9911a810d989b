// What a library built on heddle asks of the machine before there is a runtime.
#pragma once

#include <vector>

#include <heddle/export.hpp>

namespace heddle::detail {

// A processing unit that the process may use, and what it shares with others.
struct unit_facts {
  int number;  // the operating system's
  unsigned core, package;
  unsigned last_cache;  // number of the outermost cache that serves it; its core's where there is none
  int numa;
};

struct machine_facts {
  std::vector<unit_facts> units;  // in the order of the tree of memory groups; at least one
  unsigned workers;               // of a runtime that is made without options: HEDDLE_WORKERS, affinity mask, quota
};

// Of the calling kernel thread's affinity mask. The machine is read once a process, which takes milliseconds. HEDDLE_
// variables with impossible values count as unset here: who makes a runtime says so. Throws std::bad_alloc. Thread
// context: any, but not a signal handler.
HEDDLE_API machine_facts facts_of_machine();

}  // namespace heddle::detail

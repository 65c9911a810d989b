// The limits of the process on a machine: its affinity mask and its cgroup CPU quotas.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heddle::machine {

// The CPU time that a cgroup allows, in processors.
struct quota {
  double processors{0};
  std::string group;  // path of the group in its hierarchy, as far as it can be seen
  std::string file;   // the file that said so, relative to the root directory
  bool own{false};    // true for the group of the process, false for an ancestor
};

struct limits {
  std::vector<int> mask;  // units that the calling kernel thread may run on, ascending; empty if unknown
  // Quotas of the process's cgroup and of all its ancestors that have one, own group first.
  std::vector<quota> quotas;
  std::vector<std::string> warnings;  // files that could not be understood; they limit nothing

  // Returns the smallest quota, or null if there is none.
  const quota* tightest() const noexcept;
};

// Returns the affinity mask of the calling kernel thread, or an empty vector if the system does not tell it.
std::vector<int> affinity_mask();

// Reads the limits of this process. Files are searched below `root`: proc/self/cgroup, proc/self/mountinfo, and the
// cgroup file systems at the places that mountinfo names. Missing files limit nothing; malformed ones give a warning.
// Throws only std::bad_alloc. Thread context: any.
// Both versions of cgroups are read, also when both are mounted. A quota of an ancestor binds as much as a quota of the
// own group (Go #81180, oneTBB #190). In a cgroup namespace the mount may begin above the namespace's root. Then the
// names between are not known, and the group is the one whose cgroup.procs holds this process.
limits read_limits(const std::filesystem::path& root = "/");

// Does the same with a given mask, for models and tests.
limits read_limits(const std::filesystem::path& root, std::vector<int> mask);

}  // namespace heddle::machine

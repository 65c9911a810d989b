// What the process may use of a machine: affinity mask and cgroup CPU quotas.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heddle::machine {

// CPU time that a cgroup allows, in processors.
struct quota {
  double processors{0};
  std::string group;  // path of the group in its hierarchy, as far as it can be seen
  std::string file;   // what said so, relative to the root directory
  bool own{false};    // the group of the process, not an ancestor
};

struct limits {
  std::vector<int> mask;  // units the calling kernel thread may run on, ascending; empty: unknown
  // of the process's cgroup and of all its ancestors that have one, own group first
  std::vector<quota> quotas;
  std::vector<std::string> warnings;  // files that could not be understood; they limit nothing

  // The tightest one, null without any.
  const quota* tightest() const noexcept;
};

// Affinity mask of the calling kernel thread, from the system; empty when it does not say.
std::vector<int> affinity_mask();

// Reads the limits of this process. Files are searched below `root`: proc/self/cgroup, proc/self/mountinfo, and the
// cgroup file systems where mountinfo says. Missing files limit nothing; malformed ones give a warning. Throws
// std::bad_alloc only. Thread context: any.
// Both versions of cgroups are read, and both at once where both are mounted. A quota of an ancestor binds as much as
// one of the own group (Go #81180, oneTBB #190). In a cgroup namespace the mount may begin above the namespace's root:
// then the names between are not known, and the group is the one whose cgroup.procs holds this process.
limits read_limits(const std::filesystem::path& root = "/");

// The same with a given mask, for models and tests.
limits read_limits(const std::filesystem::path& root, std::vector<int> mask);

}  // namespace heddle::machine

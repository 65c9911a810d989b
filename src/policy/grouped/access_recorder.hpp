// What each task of a program touches, heard from what the program tells of its costs (heddle/cost.hpp), simulated or
// not: for the policy `grouped`, with one worker.
#pragma once

#include <cstdint>
#include <string>

#include <heddle/detail/cost_model.hpp>

#include "policy/grouped/sharing_profile.hpp"

namespace heddle::policy {

// One in a process. While it lives it stands in front of the cost model that there is, if there is one.
//
// Only what the worker says that has called `begin` is heard; so no two threads write at once. Where a thread is
// interrupted while it is heard, others on that worker are not heard until it has gone on.
class access_recorder {
 public:
  // Throws std::invalid_argument: there is one already.
  explicit access_recorder(std::string file);
  // Writes the file, and prints what goes wrong. The worker has ended. A recorder that is alive when the process ends,
  // as that of the global runtime is, writes its file then.
  ~access_recorder();
  access_recorder(const access_recorder&) = delete;
  access_recorder& operator=(const access_recorder&) = delete;

  // From now on what is told is of this task. Allocates nothing.
  void begin(unsigned site, unsigned task) noexcept;
  void end() noexcept { task_ = nobodys; }

 private:
  friend struct recorder_listener;  // behind the program's annotations
  static constexpr unsigned nobodys = ~0u;
  void write() noexcept;
  profiled_task& current();
  void touch(std::uint64_t address, std::uint64_t bytes);

  const std::string file_;
  sharing_profile heard_;
  unsigned site_{0}, task_{nobodys};  // of the worker
  bool failed_{false};                // for lack of memory
};

}  // namespace heddle::policy

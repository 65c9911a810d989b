// A recorder of what each task of a program touches. It hears what the program tells of its costs (heddle/cost.hpp),
// simulated or not. It serves the policy `grouped`, with one worker.
#pragma once

#include <cstdint>
#include <string>

#include <heddle/detail/cost_model.hpp>

#include "policy/grouped/sharing_profile.hpp"

namespace heddle::policy {

// There is one in a process. While it lives it stands in front of the process's cost model, if there is one.
//
// It hears only the worker that has called `begin`, so no two threads write at once. If a thread is interrupted inside
// the recorder, other threads on that worker are not heard until it has gone on.
class access_recorder {
 public:
  // Throws std::invalid_argument if there is a recorder already.
  explicit access_recorder(std::string file);
  // Writes the file, and prints an error message if that fails. The worker must have ended. A recorder that is alive
  // when the process ends, as that of the global runtime is, writes its file then.
  ~access_recorder();
  access_recorder(const access_recorder&) = delete;
  access_recorder& operator=(const access_recorder&) = delete;

  // From this call on, the program's annotations count for this task. Allocates nothing.
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
  unsigned site_{0}, task_{nobodys};  // the worker's present task
  bool failed_{false};                // set when memory was short
};

}  // namespace heddle::policy

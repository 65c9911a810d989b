// The executable specification of the interface: one worker does everything in the order of the serial program.
#pragma once

#include <heddle/policy.hpp>

namespace heddle::policy {

// Every child runs at once and to its end (or first wait) before its spawner goes on. Nothing is ever stolen, so all
// work stays on the worker where the program started. If threads never block, the order of execution is that of the
// program with its keywords removed.
class serial final : public policy {
 public:
  static std::unique_ptr<policy> make(parameters& given);
  entry acquire(unsigned, effort) noexcept override { return 0; }
  placement spawn(unsigned, const task_info&) noexcept override { return placement::child_first; }
  bool may_find(unsigned) noexcept override { return false; }
  unsigned most_workers() const noexcept override { return 1; }
};

}  // namespace heddle::policy

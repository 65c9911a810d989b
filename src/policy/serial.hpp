// The executable specification of the interface: one worker does everything in the order of the serial program.
#pragma once

#include "policy/policy.hpp"

namespace heddle::policy {

// Every child runs at once and to its end (or first wait) before its spawner goes on; nothing is ever stolen, so all
// work stays on the worker where the program started. With threads that never block, the order of execution is that of
// the program with its keywords removed.
class serial final : public policy {
 public:
  static std::unique_ptr<policy> make(const std::vector<parameter>& parameters);
  policy_wants wants() const noexcept override { return {.spawns = true}; }  // child first
  entry acquire(unsigned, effort) noexcept override { return 0; }
  bool may_find(unsigned) noexcept override { return false; }
  unsigned most_workers() const noexcept override { return 1; }
};

}  // namespace heddle::policy

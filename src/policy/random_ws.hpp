// Random work stealing; see random_ws.cpp for its source.
#pragma once

#include "policy/policy.hpp"

namespace heddle::policy {

class random_ws final : public policy {
 public:
  explicit random_ws(bool parent_first) noexcept : parent_first_(parent_first) {}
  static std::unique_ptr<policy> make(const std::vector<parameter>& given);

  policy_wants wants() const noexcept override { return {.spawns = parent_first_}; }
  entry acquire(unsigned self, effort how) noexcept override;
  placement spawn(unsigned self, const spawn_info& info) noexcept override;

 private:
  const bool parent_first_;
};

}  // namespace heddle::policy

// Random work stealing; see random_ws.cpp for its source.
#pragma once

#include "policy/policy.hpp"

namespace heddle::policy {

class random_ws final : public policy {
 public:
  enum class order : unsigned char { queued, child, parent };
  explicit random_ws(order spawn) noexcept : spawn_(spawn) {}
  static std::unique_ptr<policy> make(const std::vector<parameter>& given);

  policy_wants wants() const noexcept override { return {.spawns = spawn_ != order::queued}; }
  entry acquire(unsigned self, effort how) noexcept override;
  placement spawn(unsigned self, const spawn_info& info) noexcept override;

 private:
  const order spawn_;
};

}  // namespace heddle::policy

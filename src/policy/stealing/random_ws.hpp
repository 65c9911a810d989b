// Random work stealing; see random_ws.cpp for its source. Exported: policies of libheddle_policies.so hold one.
#pragma once

#include <heddle/policy_victims.hpp>

namespace heddle::policy {

class HEDDLE_API random_ws final : public policy {
 public:
  enum class order : unsigned char { queued, child, parent };
  random_ws(order spawn, victim_memory::rule victim) noexcept : spawn_(spawn), memory_(victim) {}
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;

 private:
  const order spawn_;
  victim_memory memory_;
};

}  // namespace heddle::policy

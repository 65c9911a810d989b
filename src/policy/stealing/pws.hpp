// Probability work stealing; see pws.cpp for its source.
#pragma once

#include <memory>
#include <vector>

#include <heddle/policy_victims.hpp>

namespace heddle::policy {

class pws final : public policy {
 public:
  explicit pws(victim_memory::rule victim) noexcept : memory_(victim) {}
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;

 private:
  std::vector<std::vector<std::uint32_t>> below_;  // [self][victim]: sum of the weights of the victims up to `victim`
  victim_memory memory_;
};

}  // namespace heddle::policy

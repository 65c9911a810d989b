// Cluster-aware random stealing; see crs.cpp for its source.
#pragma once

#include <memory>

#include <heddle/policy_victims.hpp>
#include "policy/clusters/clusters.hpp"

namespace heddle::policy {

class crs final : public policy {
 public:
  // patience 0: computed from the latency between clusters.
  crs(unsigned level, unsigned patience) noexcept : level_(level), patience_(patience) { wants_.asks = true; }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;

 private:
  const unsigned level_;
  unsigned patience_;
  clusters clusters_;
  std::unique_ptr<far_request[]> far_;  // by rank
};

}  // namespace heddle::policy

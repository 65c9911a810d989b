// Cluster-aware hierarchical stealing; see chs.cpp for its source.
#pragma once

#include <memory>
#include <vector>

#include <heddle/policy_victims.hpp>
#include "policy/clusters/clusters.hpp"

namespace heddle::policy {

class chs final : public policy {
 public:
  explicit chs(unsigned level) noexcept : level_(level) { wants_.work_conserving = false; }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  bool may_rob(unsigned self, unsigned victim) noexcept override {
    return self != victim && (clusters_.are_neighbours(self, victim) || clusters_.leads(self));
  }

 private:
  entry descend(unsigned self, const worker_group& into, effort how) noexcept;

  const unsigned level_;
  clusters clusters_;
  // by rank: the other workers of its cluster in the order in which it asks them
  std::vector<std::vector<unsigned>> tree_;
};

}  // namespace heddle::policy

// Cluster-aware hierarchical stealing; see chs.cpp for its source.
#pragma once

#include <atomic>
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

 private:
  // One for each cluster: its root waits for the answer of another cluster's root, and hears no other request.
  struct alignas(64) root {
    std::atomic<bool> waits{false};
  };

  entry ask(unsigned self, const worker_group& other, effort how) noexcept;

  const unsigned level_;
  clusters clusters_;
  // by rank: the other workers of its cluster in the order in which it asks them
  std::vector<std::vector<unsigned>> tree_;
  std::unique_ptr<root[]> roots_;  // by number of the cluster
};

}  // namespace heddle::policy

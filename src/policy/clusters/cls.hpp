// Cluster-aware load-based stealing; see cls.cpp for its source.
#pragma once

#include <atomic>
#include <memory>

#include <heddle/policy_victims.hpp>
#include "policy/clusters/clusters.hpp"

namespace heddle::policy {

class cls final : public policy {
 public:
  // load 0: as many tasks as the cluster has workers. patience 0: computed from the latency between clusters.
  cls(unsigned level, unsigned load, unsigned interval, unsigned patience) noexcept
      : level_(level), load_(load), interval_(interval), patience_(patience) {
    wants_.asks = true;
    wants_.work_conserving = false;
  }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  bool may_rob(unsigned self, unsigned victim) noexcept override {
    return self != victim && (clusters_.are_neighbours(self, victim) || clusters_.leads(self));
  }
  bool fork_begin(unsigned self, const fork_info&) noexcept override {
    if (clusters_.leads(self)) hear(self);
    return false;
  }
  entry pick(unsigned self, bool) noexcept override {
    if (clusters_.leads(self)) hear(self);
    return 0;
  }

 private:
  struct alignas(64) coordinator {
    std::atomic<bool> is_handling{false};  // some worker runs its handler of messages, and has `request`
    far_request request;
    unsigned until_next{0};  // the coordinator's own: forks and picks until it looks at loads
  };

  void hear(unsigned self) noexcept;
  void handle(unsigned self) noexcept;
  bool take_refusal(coordinator& mine) noexcept;

  const unsigned level_;
  const unsigned load_;
  const unsigned interval_;
  unsigned patience_;
  clusters clusters_;
  std::unique_ptr<coordinator[]> coordinators_;  // by number of the cluster
  struct alignas(64) worker_state {
    bool is_watched{true};
  };
  std::unique_ptr<worker_state[]> workers_;  // by rank; each is its worker's own
};

}  // namespace heddle::policy

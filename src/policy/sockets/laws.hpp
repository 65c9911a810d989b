// Locality-aware work stealing; see laws.cpp for its source.
#pragma once

#include <atomic>
#include <memory>

#include "policy/sockets/bi_tier.hpp"
#include "policy/sockets/cut_search.hpp"
#include "policy/sockets/soid_profile.hpp"

namespace heddle::policy {

class laws final : public policy, private tier_rules {
 public:
  struct settings {
    bi_tier::settings tiers;
    double cache;      // bytes; 0 means the machine's cache
    double cmpi;       // the misses per instruction below which a task counts as computing
    bool packs;        // whether CF subtrees are packed; false for laws-nc
    unsigned repeats;  // the iterations of each partition that is tried; 0 keeps the first partition
    unsigned warmup;   // the iterations of each partition before these
    double margin;     // the share of the time that a partition must gain
    unsigned pieces;   // laws-nc: the pieces of each socket's part
  };

  explicit laws(const settings& s) : settings_(s), tiers_(s.tiers, *this) {
    wants_.work_conserving = false;
    wants_.elapsed = (s.packs && s.repeats != 0) || s.cmpi > 0;
    wants_.figures = soid_profile::figures();
  }
  static std::unique_ptr<policy> make(parameters& given);
  static std::unique_ptr<policy> make_nc(parameters& given);

  void start(scheduler& host) override;
  void used(unsigned, task& t, const task_usage& what) noexcept override {
    if (tier_node* n = bi_tier::node_of(t); n != nullptr) soid_profile::note(*n, what);
  }
  entry acquire(unsigned self, effort how) noexcept override { return tiers_.acquire(self, how); }
  bool may_find(unsigned self) noexcept override { return tiers_.may_find(self); }
  bool may_rob(unsigned self, unsigned victim) noexcept override { return tiers_.may_rob(self, victim); }
  entry pick(unsigned self, bool own_is_empty) noexcept override { return tiers_.pick(self, own_is_empty); }
  placement started(unsigned self, const task_info& info) noexcept override { return tiers_.started(self, info); }
  placement spawn(unsigned self, const task_info& info) noexcept override { return tiers_.spawn(self, info); }
  void enqueue(unsigned self, task& t) noexcept override { tiers_.enqueue(self, t); }
  placement ready(unsigned self, task& t) noexcept override { return tiers_.ready(self, t); }
  void task_end(unsigned self, task& t) noexcept override { tiers_.task_end(self, t); }
  void group_begin(unsigned self, group_info& info) noexcept override { tiers_.group_begin(self, info); }
  void group_wait(unsigned self, group_info& info) noexcept override { tiers_.group_wait(self, info); }
  placement group_end(unsigned self, group_info& info) noexcept override { return tiers_.group_end(self, info); }
  bool fork_begin(unsigned self, const fork_info& info) noexcept override { return tiers_.fork_begin(self, info); }
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept override {
    return tiers_.fork(self, info, half);
  }
  void fork_wait(unsigned self, task& owner) noexcept override { tiers_.fork_wait(self, owner); }
  placement fork_end(unsigned self, task& owner, std::uint64_t elapsed) noexcept override {
    return tiers_.fork_end(self, owner, elapsed);
  }
  placement next_iteration(unsigned self, task& owner, const void* label) noexcept override {
    return tiers_.next_iteration(self, owner, label);
  }

 private:
  struct packing {
    std::atomic<bool> packed{false};  // whether the tree has been cut; written by the root, published with its children
    bool counted{false};              // whether the first iteration was counted; the root's
    cut_search search;
  };

  tier_place place(unsigned self, tree_site& s, const tier_birth& b) noexcept override;
  void ends(unsigned self, tree_site& s, bool whole) noexcept override;
  unsigned home() const noexcept override { return 0; }
  unsigned inner_list() const noexcept override { return socket_pools::upper; }
  void pack(unsigned self, tree_site& s) noexcept;
  void tune(unsigned self, tree_site& s) noexcept;

  const settings settings_;
  double cache_{0};
  packing sites_[task_tree::most_sites];
  computing_programs computing_;
  bi_tier tiers_;
};

}  // namespace heddle::policy

// CAB with the general tree oriented partition; see cab_gto.cpp for its source.
#pragma once

#include <atomic>
#include <memory>

#include "policy/sockets/bi_tier.hpp"
#include "policy/sockets/soid_profile.hpp"

namespace heddle::policy {

class cab_gto final : public policy, private tier_rules {
 public:
  enum class sizes : std::uint8_t { automatic, declared, branching, profile };
  struct settings {
    bi_tier::settings tiers;
    double cache;  // bytes; 0 means the machine's cache
    sizes from;
    double cmpi;   // the misses per instruction below which a task counts as computing
    bool bounded;  // whether each socket gets at least one leaf inter-socket task
  };

  explicit cab_gto(const settings& s) : settings_(s), tiers_(s.tiers, *this) {
    wants_.work_conserving = false;
    wants_.figures = soid_profile::figures();
    wants_.elapsed = s.cmpi > 0;
  }
  static std::unique_ptr<policy> make(parameters& given);

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
  // The way in which the tree of a site is cut.
  enum class phase : std::uint8_t { measuring, by_tree, by_bytes };

  tier_place place(unsigned self, tree_site& s, const tier_birth& b) noexcept override;
  unsigned home() const noexcept override { return 0; }
  void ends(unsigned self, tree_site& s, bool whole) noexcept override;
  bool is_cut(const tier_node& child) const noexcept;
  void say_sizes(unsigned self, tree_site& s) noexcept;
  void say_bytes(unsigned self, double bytes) noexcept;

  const settings settings_;
  double cache_{0};
  std::atomic<phase> phases_[task_tree::most_sites]{};  // by site
  bool counted_[task_tree::most_sites]{};               // whether the site's first iteration was counted; the root's
  computing_programs computing_;
  bi_tier tiers_;
};

}  // namespace heddle::policy

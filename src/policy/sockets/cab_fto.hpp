// CAB with the full tree oriented partition; see cab_fto.cpp for its source.
#pragma once

#include <atomic>
#include <memory>

#include "policy/sockets/bi_tier.hpp"

namespace heddle::policy {

class cab_fto final : public policy, private tier_rules {
 public:
  struct settings {
    bi_tier::settings tiers;
    double cache;        // bytes; 0 means the machine's cache
    unsigned branching;  // 0 means as the program's outermost group or fork branches
    unsigned level;      // the boundary level, if it is given
    bool level_given;
  };

  explicit cab_fto(const settings& s) : settings_(s), tiers_(s.tiers, *this) { wants_.work_conserving = false; }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
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
  tier_place place(unsigned self, tree_site& s, const tier_birth& b) noexcept override;
  unsigned home() const noexcept override { return 0; }
  void ends(unsigned, tree_site&, bool) noexcept override {}
  const char* words_of(const tier_birth& b) const noexcept;
  unsigned level_of(unsigned self, const tree_site& s, const tier_birth& b) noexcept;

  const settings settings_;
  double cache_{0};
  std::atomic<unsigned> levels_[task_tree::most_sites]{};  // by site: the boundary level of its iteration
  std::atomic<unsigned> said_{0};                          // the level of the last remark
  bi_tier tiers_;
};

}  // namespace heddle::policy

// Locality-guided work stealing; see locality_ws.cpp for its source.
#pragma once

#include <cstdint>
#include <memory>

#include <heddle/policy_victims.hpp>
#include "policy/iterations/affine_lists.hpp"
#include "policy/iterations/affinity_memory.hpp"

namespace heddle::policy {

class locality_ws final : public policy {
 public:
  struct settings {
    unsigned tasks;     // how many tasks are remembered
    unsigned depth;     // the forks and groups below which tasks have no affinity; 0: by the number of workers
    unsigned patience;  // searches in vain before a worker steals
    victim_memory::rule victim;
  };

  explicit locality_ws(const settings& s) noexcept : settings_(s), victims_(s.victim) {}
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  entry pick(unsigned self, bool own_is_empty) noexcept override;
  placement started(unsigned self, const task_info& info) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void enqueue(unsigned self, task& t) noexcept override;
  void task_end(unsigned self, task& t) noexcept override;
  void group_begin(unsigned self, group_info& info) noexcept override;
  placement group_end(unsigned self, group_info& info) noexcept override;
  bool fork_begin(unsigned self, const fork_info& info) noexcept override;
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept override;
  placement fork_end(unsigned self, task& owner, std::uint64_t elapsed) noexcept override;
  placement next_iteration(unsigned self, task& owner, const void* label) noexcept override;

 private:
  static inline char known_;  // the tag of the tasks that have an identity, and of roots
  static affine_task& state_of(task& t) noexcept { return affine_lists::state_of(t); }

  struct alignas(64) thief {
    unsigned in_vain{0};  // searches in vain; this worker's own
  };

  static void number_anew(affine_task& at) noexcept;
  static void leave(affine_task& at) noexcept {
    if (at.open != 0) --at.open;
  }
  bool is_deepest(const affine_task& at) const noexcept { return at.depth >= depth_; }
  placement hand_out(unsigned self, task& parent, const task_info& info) noexcept;
  void begin(unsigned self, task& t) noexcept;
  entry next_own(unsigned self) noexcept;
  entry steal_from(unsigned self, unsigned victim, effort how) noexcept;

  const settings settings_;
  victim_memory victims_;
  unsigned depth_{0};
  affine_lists lists_;
  affinity_memory memory_;
  std::unique_ptr<thief[]> thieves_;  // by rank
};

}  // namespace heddle::policy

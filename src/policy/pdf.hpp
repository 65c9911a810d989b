// Parallel depth first; see pdf.cpp for its source.
#pragma once

#include "policy/policy.hpp"
#include "policy/task_list.hpp"

namespace heddle::policy {

class pdf final : public policy {
 public:
  static std::unique_ptr<policy> make(const std::vector<parameter>& given);

  policy_wants wants() const noexcept override {
    return {.spawns = true, .forks = true, .roots = true, .picks = true, .limits = true, .greedy = false};
  }
  entry acquire(unsigned, effort) noexcept override { return take(); }
  bool may_find(unsigned self) noexcept override;
  bool may_rob(unsigned, unsigned) noexcept override { return false; }
  entry pick(unsigned, bool own_is_empty) noexcept override { return own_is_empty ? take() : 0; }
  placement started(unsigned self, task& t) noexcept override;
  placement spawn(unsigned self, const spawn_info& info) noexcept override;
  void place(unsigned self, task& t, const placement& where) noexcept override;
  placement ready(unsigned self, task& t) noexcept override;
  void task_end(unsigned self, task& t) noexcept override;
  bool fork_begin(unsigned, const fork_info& info) noexcept override { return info.owner.word != nullptr; }
  placement fork(unsigned self, const fork_info& info, task& child) noexcept override;

 private:
  entry take() noexcept;

  detail::spin_word lock_;
  task_list order_;                 // every live task, in the order of the serial program; under lock_
  std::atomic<unsigned> ready_{0};  // of them; written under lock_
};

}  // namespace heddle::policy

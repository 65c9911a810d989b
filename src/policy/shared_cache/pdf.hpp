// Parallel depth first; see pdf.cpp for its source.
#pragma once

#include <heddle/policy.hpp>
#include "policy/task_list.hpp"

namespace heddle::policy {

class pdf final : public policy {
 public:
  pdf() noexcept { wants_.work_conserving = false; }
  static std::unique_ptr<policy> make(parameters& given);

  entry acquire(unsigned, effort) noexcept override { return take(); }
  bool may_find(unsigned self) noexcept override;
  bool may_rob(unsigned, unsigned) noexcept override { return false; }
  entry pick(unsigned, bool own_is_empty) noexcept override { return own_is_empty ? take() : 0; }
  placement started(unsigned self, const task_info& info) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void enqueue(unsigned self, task& t) noexcept override;
  placement ready(unsigned self, task& t) noexcept override;
  void task_end(unsigned self, task& t) noexcept override;
  bool fork_begin(unsigned, const fork_info& info) noexcept override { return info.owner.tag != nullptr; }
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept override;

 private:
  entry take() noexcept;

  detail::spin_word lock_;
  task_list order_;                 // every live task, in the order of the serial program; under lock_
  std::atomic<unsigned> ready_{0};  // the number of ready tasks in it; written under lock_
};

}  // namespace heddle::policy

// One central queue; see work_sharing.cpp for its source.
#pragma once

#include <heddle/policy.hpp>
#include "policy/task_list.hpp"

namespace heddle::policy {

class work_sharing final : public policy {
 public:
  explicit work_sharing(bool oldest_first) noexcept : oldest_first_(oldest_first) {}
  static std::unique_ptr<policy> make(parameters& given);

  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned) noexcept override;
  entry pick(unsigned, bool own_is_empty) noexcept override { return own_is_empty ? take() : 0; }
  placement spawn(unsigned, const task_info&) noexcept override { return placement::send; }
  void enqueue(unsigned self, task& t) noexcept override;
  bool fork_begin(unsigned, const fork_info&) noexcept override { return true; }
  placement fork(unsigned, const fork_info&, const task_info&) noexcept override { return placement::send; }

 private:
  entry take() noexcept;

  const bool oldest_first_;
  shared_task_list pool_;
};

}  // namespace heddle::policy

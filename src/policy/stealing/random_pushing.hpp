// Random pushing; see random_pushing.cpp for its source.
#pragma once

#include <atomic>
#include <memory>

#include <heddle/policy.hpp>
#include "policy/task_list.hpp"

namespace heddle::policy {

class random_pushing final : public policy {
 public:
  random_pushing(unsigned threshold, unsigned transit) noexcept : threshold_(threshold), transit_(transit) {
    wants_.work_conserving = false;
  }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  entry pick(unsigned self, bool own_is_empty) noexcept override { return own_is_empty ? take(self) : 0; }
  placement spawn(unsigned, const task_info&) noexcept override { return placement::send; }
  void enqueue(unsigned self, task& t) noexcept override;
  bool fork_begin(unsigned, const fork_info&) noexcept override { return true; }
  placement fork(unsigned, const fork_info&, const task_info&) noexcept override { return placement::send; }

 private:
  struct alignas(64) node {
    shared_task_list queue;               // newest first
    std::atomic<unsigned> in_transit{0};  // tasks that this worker has pushed and that no worker has taken up
  };

  entry take(unsigned self) noexcept;
  void arrived(task& t) noexcept;
  void push_surplus(unsigned self) noexcept;

  const unsigned threshold_;
  const unsigned transit_;
  std::unique_ptr<node[]> nodes_;  // by rank
};

}  // namespace heddle::policy

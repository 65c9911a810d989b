// Multi-threaded shepherds: one queue for a memory group; see mts.cpp for its source.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include <heddle/policy.hpp>
#include "policy/task_list.hpp"
#include "policy/worker_groups.hpp"

namespace heddle::policy {

class mts final : public policy {
 public:
  mts(bool nearest_first, unsigned batch) noexcept : nearest_first_(nearest_first), batch_(batch) {}
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
  struct shepherd {
    worker_group workers{0, 0};
    shared_task_list queue;             // newest first
    std::vector<unsigned> victims;      // other shepherds, nearest first
    std::atomic<bool> fetching{false};  // whether one of its workers steals for all of them
  };

  entry take(unsigned self) noexcept;
  entry fetch(unsigned self, shepherd& mine) noexcept;

  const bool nearest_first_;
  const unsigned batch_;  // tasks for each steal; 0 means one for each worker of the thief's group
  std::unique_ptr<shepherd[]> shepherds_;
  unsigned count_{0};
  std::vector<unsigned> of_;  // by rank
};

}  // namespace heddle::policy

// Topology-aware stealing with queues that advertise themselves; see tatl.cpp for its source.
#pragma once

#include <atomic>
#include <memory>

#include <heddle/policy.hpp>
#include "policy/clusters/clusters.hpp"
#include "policy/task_list.hpp"

namespace heddle::policy {

class tatl final : public policy {
 public:
  tatl(unsigned level, unsigned most, unsigned least) noexcept : level_(level), most_(most), least_(least) {
    wants_.work_conserving = false;
  }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  entry pick(unsigned self, bool own_is_empty) noexcept override { return own_is_empty ? take_own(self) : 0; }
  placement spawn(unsigned, const task_info&) noexcept override { return placement::send; }
  void enqueue(unsigned self, task& t) noexcept override;
  bool fork_begin(unsigned, const fork_info&) noexcept override { return true; }
  placement fork(unsigned, const fork_info&, const task_info&) noexcept override { return placement::send; }

 private:
  struct alignas(64) run_queue {
    shared_task_list tasks;              // newest first; the front is the owner's end
    std::atomic<bool> is_victim{false};  // the status bit: VICTIM if true, THIEF if false
  };

  entry taken(run_queue& from, task* t) noexcept;
  entry take_own(unsigned self) noexcept;
  entry take_from(unsigned victim) noexcept;
  entry search(unsigned self, unsigned first, unsigned count) noexcept;

  const unsigned level_;
  const unsigned most_;
  const unsigned least_;
  clusters domains_;
  std::unique_ptr<run_queue[]> queues_;  // by rank
};

}  // namespace heddle::policy

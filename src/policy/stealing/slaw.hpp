// Adaptive work stealing, child or parent first at each spawn; see slaw.cpp for its source.
#pragma once

#include <atomic>
#include <memory>

#include <heddle/policy_victims.hpp>

namespace heddle::policy {

class slaw final : public policy {
 public:
  struct thresholds {
    unsigned depth;     // S: from this depth on parent first
    unsigned fresh;     // with more tasks that have not begun: child first
    unsigned interval;  // spawns of a worker
    unsigned steals;    // with more tasks stolen in an interval: parent first in the next one
  };

  slaw(const thresholds& at, victim_memory::rule victim) noexcept : at_(at), memory_(victim) {}
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;
  placement ready(unsigned self, task& t) noexcept override;
  void task_end(unsigned self, task& t) noexcept override;

 private:
  struct nesting;
  struct alignas(64) account {
    std::atomic<unsigned> stolen{0};  // tasks ever stolen from this worker; written by thieves
    // Tasks queued by this worker and not known to have begun. Written by the workers that run them.
    std::atomic<unsigned> fresh{0};
    unsigned seen{0};          // `stolen` at the start of the interval; this worker's, as those below
    unsigned spawns{0};        // in the interval
    bool parent_first{false};  // in this interval
  };

  void has_begun(nesting& n) noexcept;

  const thresholds at_;
  victim_memory memory_;
  std::unique_ptr<account[]> accounts_;  // by rank
};

}  // namespace heddle::policy

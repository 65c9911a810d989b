// Topology-aware stealing with queues that advertise themselves; see tatl.cpp for its source.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <heddle/policy.hpp>
#include "policy/clusters/clusters.hpp"
#include "policy/task_list.hpp"

namespace heddle::policy {

class tatl final : public policy {
 public:
  // The thresholds that hold at first, and for good unless `rule` computes them.
  struct bounds {
    unsigned most, least;
  };
  // Equations 4.1 and 4.2.
  struct equations {
    unsigned capacity;  // C, or 0 if the thresholds are constants
    double push, pop;   // T_push and T_pop, ns

    // `arrivals` and `departures`: lambda and mu, in tasks a nanosecond.
    [[nodiscard]] bounds thresholds(double arrivals, double departures) const noexcept;
  };

  tatl(unsigned level, const bounds& constants, const equations& rule) noexcept
      : level_(level), constants_(constants), rule_(rule) {
    wants_.work_conserving = false;
  }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  void beat() noexcept override;
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
    // Written by `beat`, and counted for it. Relaxed: numbers that publish nothing.
    std::atomic<unsigned> most{0}, least{0};
    std::atomic<std::uint64_t> pushed{0}, taken{0};
    std::uint64_t pushed_before{0}, taken_before{0};  // of `beat` alone
  };

  entry taken(run_queue& from, task* t) noexcept;
  entry take_own(unsigned self) noexcept;
  entry take_from(unsigned victim) noexcept;
  entry search(unsigned self, unsigned first, unsigned count) noexcept;

  const unsigned level_;
  const bounds constants_;
  const equations rule_;
  clusters domains_;
  std::unique_ptr<run_queue[]> queues_;  // by rank
};

}  // namespace heddle::policy

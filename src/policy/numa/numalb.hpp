// NUMALB: repeated children are placed by the time that they used and the messages that they sent; see numalb.cpp for
// its source.
#pragma once

#include <memory>
#include <vector>

#include <heddle/communication.hpp>
#include <heddle/policy_victims.hpp>
#include "policy/numa/numa_balance.hpp"
#include "policy/task_list.hpp"

namespace heddle::policy {

class numalb final : public policy, public hears_communication {
 public:
  numalb(double alpha, unsigned objects, unsigned sites) noexcept : alpha_(alpha), objects_(objects), sites_(sites) {
    wants_.work_conserving = false;
    wants_.figures = {
        .elapsed = false, .processor_time = true, .instructions = false, .misses = false, .accesses = false};
  }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  entry pick(unsigned self, bool own_is_empty) noexcept override { return own_is_empty ? take(self) : 0; }
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void enqueue(unsigned self, task& t) noexcept override;
  void used(unsigned self, task& t, const task_usage& what) noexcept override;
  void communicates(unsigned self, task& by, unsigned to, double messages) noexcept override;

 private:
  struct site {
    site(const numa_factors& factors, const std::vector<unsigned>& nodes, double alpha, unsigned objects);

    detail::spin_word lock;
    const void* label{nullptr};
    unsigned seen{0};             // children of the iteration that is under way
    unsigned placed{0};           // the number of children that have an entry in `cores`
    numa_balance balance;         // the loads and messages of this iteration
    std::vector<unsigned> cores;  // by number of the child
  };
  struct alignas(64) queue {
    shared_task_list tasks;  // oldest first
  };

  site* site_of(const void* label) noexcept;
  void place_anew(unsigned self, site& s) noexcept;
  entry take(unsigned self) noexcept;

  const double alpha_;
  const unsigned objects_;
  const unsigned sites_;
  detail::spin_word lock_;  // protects the labels
  std::vector<std::unique_ptr<site>> all_;
  std::unique_ptr<queue[]> queues_;  // by rank
};

}  // namespace heddle::policy

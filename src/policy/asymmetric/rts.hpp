// Random task snatching; see rts.cpp for its source.
#pragma once

#include <memory>

#include <heddle/policy_victims.hpp>
#include "policy/asymmetric/snatching.hpp"

namespace heddle::policy {

class rts final : public policy {
 public:
  rts() { wants_.running = true; }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  placement started(unsigned self, const task_info& info) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void enqueue(unsigned self, task& t) noexcept override;
  placement preempted(unsigned self, task& t) noexcept override;

 private:
  snatching snatching_;
};

// Random work stealing, parent first: `pfws`, which chapter 5 of Chen and Guo (2017) compares with.
std::unique_ptr<policy> make_pfws(parameters& given);

}  // namespace heddle::policy

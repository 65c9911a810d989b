// Parallel depth first over supernodes that fit into caches; see controlled_pdf.cpp for its source.
#pragma once

#include "policy/shared_cache/pdf.hpp"

namespace heddle::policy {

class controlled_pdf final : public policy {
 public:
  // The bytes of the shared cache and of a worker's own one; 0 means those of the machine.
  controlled_pdf(double shared, double own) noexcept : shared_(shared), own_(own) { wants_.work_conserving = false; }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override { return ready_.acquire(self, how); }
  bool may_find(unsigned self) noexcept override { return ready_.may_find(self); }
  bool may_rob(unsigned, unsigned) noexcept override { return false; }
  entry pick(unsigned self, bool own_is_empty) noexcept override { return ready_.pick(self, own_is_empty); }
  placement started(unsigned self, const task_info& info) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void enqueue(unsigned self, task& t) noexcept override;
  placement ready(unsigned self, task& t) noexcept override { return ready_.ready(self, t); }
  void task_end(unsigned self, task& t) noexcept override;
  void group_begin(unsigned self, group_info& info) noexcept override;
  void group_wait(unsigned self, group_info& info) noexcept override;
  bool fork_begin(unsigned self, const fork_info& info) noexcept override;
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept override;
  void fork_wait(unsigned self, task& owner) noexcept override;

 private:
  // The tier of a task by the bytes that it touches: larger than the shared cache, fits into it, or fits into a
  // worker's own.
  enum class tier : unsigned char { upper, shared, own };
  tier tier_of(double bytes) const noexcept;
  void release_child_of(unsigned self, task& parent) noexcept;

  double shared_;
  double own_;
  pdf ready_;               // all tasks that are not inside an L1-supernode, and which of them are ready
  detail::spin_word lock_;  // protects the lists of children that are held back
};

}  // namespace heddle::policy

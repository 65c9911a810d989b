// HEDDLE_POLICY=auto; see automatic.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "policy/adws/ml_adaptive.hpp"

namespace heddle::policy {

class automatic final : public policy {
 public:
  automatic();
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override { return inner_.acquire(self, how); }
  bool may_find(unsigned self) noexcept override { return inner_.may_find(self); }
  bool may_rob(unsigned self, unsigned victim) noexcept override { return inner_.may_rob(self, victim); }
  entry pick(unsigned self, bool own_is_empty) noexcept override { return inner_.pick(self, own_is_empty); }
  placement started(unsigned self, const task_info& info) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override { return inner_.spawn(self, info); }
  void enqueue(unsigned self, task& t) noexcept override;
  placement ready(unsigned self, task& t) noexcept override { return inner_.ready(self, t); }
  void task_end(unsigned self, task& t) noexcept override;
  void group_begin(unsigned self, group_info& info) noexcept override { inner_.group_begin(self, info); }
  void group_wait(unsigned self, group_info& info) noexcept override { inner_.group_wait(self, info); }
  placement group_end(unsigned self, group_info& info) noexcept override { return inner_.group_end(self, info); }
  bool fork_begin(unsigned self, const fork_info& info) noexcept override { return inner_.fork_begin(self, info); }
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept override {
    return inner_.fork(self, info, half);
  }
  void fork_wait(unsigned self, task& owner) noexcept override { inner_.fork_wait(self, owner); }
  placement fork_end(unsigned self, task& owner, std::uint64_t elapsed) noexcept override {
    return inner_.fork_end(self, owner, elapsed);
  }

 private:
  enum class choice : std::uint8_t { one_worker, flat_machine, watching, no_levels, levels, too_small };
  void choose(unsigned self, choice what, std::uint64_t value) noexcept;
  bool is_random() const noexcept;
  void note_bytes(double bytes) noexcept;
  void root_ended(unsigned self) noexcept;

  ml_adaptive inner_;  // It has all tasks; automatic itself keeps nothing in them.
  std::atomic<choice> chosen_{choice::watching};
  std::atomic<std::uint64_t> passed_{0};      // tasks passed between workers in this run
  std::atomic<std::uint64_t> most_bytes_{0};  // the most bytes of a group that was laid out
  // Written by the one root task's worker at the root's end, one at a time; read by the worker that starts the next
  // one.
  std::atomic<unsigned> small_runs_{0};  // small runs in a row
  std::atomic<unsigned> left_out_{0};    // runs since random stealing was chosen
};

}  // namespace heddle::policy

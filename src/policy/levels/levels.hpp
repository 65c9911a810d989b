// HEDDLE_POLICY=levels: a policy of its own at each level of the machine. See levels.cpp for its source, levels.md for
// its rules and invariants.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include <heddle/policy.hpp>
#include "policy/levels/stage.hpp"
#include "policy/paged_nodes.hpp"

namespace heddle::policy {

class levels final : public policy {
 public:
  struct line {  // one part of the parameter: this policy among the memory groups of that kind
    machine::group_kind kind;
    std::string_view name;
  };
  levels(std::vector<line> lines, unsigned pieces);
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  bool may_rob(unsigned self, unsigned victim) noexcept override;
  entry pick(unsigned self, bool own_is_empty) noexcept override;
  placement started(unsigned self, const task_info& info) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void enqueue(unsigned self, task& t) noexcept override;
  placement ready(unsigned self, task& t) noexcept override;
  placement preempted(unsigned self, task& t) noexcept override;
  void task_end(unsigned self, task& t) noexcept override;
  void group_begin(unsigned self, group_info& info) noexcept override;
  void group_wait(unsigned self, group_info& info) noexcept override;
  placement group_end(unsigned self, group_info& info) noexcept override;
  placement next_iteration(unsigned self, task& owner, const void* label) noexcept override;
  bool fork_begin(unsigned self, const fork_info& info) noexcept override;
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept override;
  void fork_wait(unsigned self, task& owner) noexcept override;
  placement fork_end(unsigned self, task& owner, std::uint64_t elapsed) noexcept override;

 private:
  using records = paged_nodes<level_task, &level_task::next_free>;
  // A task without a record as a policy sees it.
  struct stranger {  // for calls about a thread of which `levels` has no record
    task seen{};
  };

  struct alignas(64) station {  // by rank; the worker's own
    level_task* free{nullptr};
    level_task* reserved{nullptr};  // for the next fork
    bool shown{false};              // whether the policy wished for that fork
    // It runs a task of that member queue's level, or has run one and has not chosen a next task yet.
    member_queue* runs_for{nullptr};
    unsigned idle_seen{0};       // searches in a row in which no worker ran anything
    std::vector<stage*> stages;  // outermost first
  };

  void build(unsigned level, unsigned root, const std::vector<line>& used);
  stage& innermost(unsigned self) const noexcept { return *stations_[self].stages.back(); }
  static level_task* record_of(const task& t) noexcept { return static_cast<level_task*>(t.tag); }

  level_task* new_record(unsigned self, stage& in, task& real, const void* label) noexcept;
  void begin_record(level_task& r, stage& in, task& real, const void* label) const noexcept;
  void drop_record(unsigned self, level_task& r) noexcept;
  placement answer(level_task& r, level_task::way goes) noexcept {
    r.goes = goes;
    return placement::send;
  }

  bool stays_above(const stage& at, unsigned member, double share, double bytes) const noexcept;
  static double part_of(double work, double whole, double otherwise) noexcept;
  static void push_frame(level_task& r, bool shown) noexcept;
  static bool pop_frame(level_task& r) noexcept;
  placement enter(unsigned self, level_task& r, stage& to) noexcept;
  placement root_of(unsigned self, level_task& r, stage& to) noexcept;
  placement child_above(unsigned self, const task_info& info, level_task& parent) noexcept;
  placement half_above(unsigned self, const fork_info& info, const task_info& half, level_task& owner) noexcept;

  entry begin(unsigned self, level_task& r) noexcept;
  entry take_above(unsigned self, effort how, bool though_busy) noexcept;
  entry take_of(unsigned self, stage& from, effort how, bool though_busy) noexcept;
  static void leave_queue(stage& at, unsigned member, member_queue& s) noexcept;
  bool waits_at(unsigned self, stage& at, unsigned member, bool though_busy) noexcept;
  void stop_running(unsigned self) noexcept;

  const std::vector<line> lines_;
  const unsigned pieces_;
  unsigned count_{0};  // the number of levels that there are
  std::vector<std::unique_ptr<stage>> stages_;
  std::vector<stage*> inner_;  // the innermost stages
  std::unique_ptr<station[]> stations_;
  records records_;
  // The inner stage of the next thread that has no parent and is not the main one.
  std::atomic<unsigned> next_inner_{0};
  std::atomic<bool> has_main_{false};
};

}  // namespace heddle::policy

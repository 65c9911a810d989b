// Constrained work stealing; see constrained_ws.cpp for its source.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include <heddle/policy_victims.hpp>
#include "policy/iterations/iterations.hpp"
#include "policy/task_list.hpp"

namespace heddle::policy {

class constrained_ws final : public policy {
 public:
  // In this order: strict and ordered; strict in any order; relaxed.
  enum class replay : std::uint8_t { stows, stuws, relws };
  struct settings {
    replay how;
    unsigned relaxed;  // iterations under RelWS between the recorded one and the strict ones
    victim_memory::rule victim;
    // Under RelWS: searches in vain before a worker that expects recorded pieces steals.
    unsigned patience;
  };

  explicit constrained_ws(const settings& s)
      : settings_(s),
        memory_(s.victim),
        iterations_({remarks, s.how != replay::relws, s.how == replay::stows, s.relaxed}) {
    wants_.work_conserving = s.how == replay::relws;
  }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  bool may_rob(unsigned self, unsigned victim) noexcept override { return self != victim && robs(); }
  entry pick(unsigned self, bool own_is_empty) noexcept override;
  placement started(unsigned self, const task_info& info) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void enqueue(unsigned self, task& t) noexcept override;
  placement ready(unsigned self, task& t) noexcept override;
  void task_end(unsigned self, task& t) noexcept override;
  void group_begin(unsigned self, group_info& info) noexcept override;
  placement group_end(unsigned self, group_info& info) noexcept override;
  bool fork_begin(unsigned self, const fork_info& info) noexcept override;
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept override;
  placement fork_end(unsigned self, task& owner, std::uint64_t elapsed) noexcept override;
  placement next_iteration(unsigned self, task& owner, const void* label) noexcept override;

 private:
  using mode = iterations::mode;
  struct in_iteration;

  // Pieces sent to a worker, which no other worker may take, sorted by the order in which they began there.
  class piece_queue {
   public:
    void insert(task& t) noexcept;
    // Takes the first piece if its place in the order is `due` or before; else returns null.
    task* take(unsigned due) noexcept;
    bool has(unsigned due) noexcept;
    // relaxed: a hint, or read after a heavy fence
    bool looks_empty() const noexcept { return size_.load(std::memory_order_relaxed) == 0; }

   private:
    detail::spin_word lock_;
    task_list list_;                 // under lock_
    std::atomic<unsigned> size_{0};  // written under lock_
  };

  struct alignas(64) station {
    shared_task_list kept;    // for this worker alone, newest last
    shared_task_list open;    // for any worker, newest last
    shared_task_list passed;  // recorded pieces of a relaxed iteration, for any worker, oldest first
    piece_queue assigned;     // recorded pieces of a strict iteration
    // The number of pieces begun in this iteration. Written by its worker; reset by the worker that begins an
    // iteration.
    std::atomic<unsigned> begun{0};
    // The number of recorded pieces that have not begun. Set by the worker that begins an iteration.
    std::atomic<unsigned> left{0};
    unsigned in_vain{0};            // searches in vain; this worker's own, as the fields below
    unsigned stuck{0};              // searches in a row in which no worker ran anything
    steal_node* reserved{nullptr};  // reserved for the next fork, and for the iteration that it may begin
    steal_node* reserved_root{nullptr};
  };

  // These tags of tasks are explained in constrained_ws_tasks.hpp.
  static inline char outside_, inside_, marked_;
  static in_iteration& state_of(task& t) noexcept;

  // Whether workers take from each other's fork queues. With one root alive these hold only tasks that belong to one
  // worker: pieces under strict replay, and for a moment a fork that is to be recorded [relws:6].
  bool robs() const noexcept { return (roots_.load() & ~1u) > one_root || (roots_.load() & 1u) != 0; }
  static constexpr unsigned one_root = 2;
  // Called when a fork or child is left to the fork queues without a record [relws:6].
  void leave_unrecorded() noexcept {
    if (settings_.how == replay::relws && (roots_.load() & 1u) == 0 && (roots_.fetch_or(1) & 1u) == 0) host_->widened();
  }
  void end_root() noexcept;
  static constexpr unsigned any_order = ~0u;
  // relaxed: the worker's own variable; before the worker has a piece of the iteration, a hint
  unsigned due(const station& mine) const noexcept {
    return iterations_.is_loosened() ? any_order : mine.begun.load(std::memory_order_relaxed);
  }
  bool begin_iteration(unsigned self, task& owner, const void* label, steal_node* root) noexcept;
  void begin_marked(unsigned self, task& owner) noexcept;
  placement end_iteration(unsigned self, task& owner) noexcept;

  placement record_child(unsigned self, const task_info& info) noexcept;
  bool prepare_fork(unsigned self, task& owner) noexcept;
  placement hand_out(unsigned self, task& parent, task& child, steal_node* node) noexcept;
  void begin(unsigned self, task& t) noexcept;
  entry begun(unsigned self, task& t) noexcept {
    begin(self, t);
    return host_->entry_of(t);
  }
  entry next_own(unsigned self) noexcept;
  entry steal_from(unsigned self, unsigned victim, effort how) noexcept;
  void check_stuck(unsigned self) noexcept;

  const settings settings_;
  victim_memory memory_;
  unsigned workers_{0};
  std::unique_ptr<station[]> stations_;  // by rank
  // The number of living threads without a parent, times one_root; bit 0: [relws:6].
  std::atomic<unsigned> roots_{0};
  std::atomic<std::uintptr_t> groups_{0};  // the number of the next group that could begin an iteration

  static constexpr iterations::remarks remarks{
      "constrained_ws: first iteration recorded; pieces", "constrained_ws: RelWS iteration; pieces that moved",
      "constrained_ws: strict replay from here on; pieces",
      "constrained_ws: record abandoned, RelWS again; tasks unknown or missing"};
  iterations iterations_;
  // The end of the present iteration: the group that began it, &marked_ if it was marked, or null if a fork began
  // it. Written by the iteration's root.
  void* opener_{nullptr};
};

}  // namespace heddle::policy

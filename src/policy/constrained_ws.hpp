// Constrained work stealing; see constrained_ws.cpp for its source.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include <heddle/policy.hpp>
#include "policy/steal_tree.hpp"
#include "policy/task_list.hpp"

namespace heddle::policy {

class constrained_ws final : public policy {
 public:
  enum class replay : std::uint8_t { stows, stuws, relws };  // strict, ordered; strict, in any order; relaxed
  struct settings {
    replay how;
    unsigned relaxed;   // iterations under RelWS between the recorded one and the strict ones
    unsigned patience;  // under RelWS: searches in vain before a worker that has recorded pieces to come steals
  };

  explicit constrained_ws(const settings& s) : settings_(s) { wants_.greedy = s.how == replay::relws; }
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  entry acquire(unsigned self, effort how) noexcept override;
  bool may_find(unsigned self) noexcept override;
  bool may_rob(unsigned self, unsigned victim) noexcept override { return self != victim && robs(); }
  entry pick(unsigned self, bool own_is_empty) noexcept override;
  placement started(unsigned self, const task_info& info) noexcept override;
  placement spawn(unsigned self, const task_info& info) noexcept override;
  void place(unsigned self, task& t) noexcept override;
  placement ready(unsigned self, task& t) noexcept override;
  void task_end(unsigned self, task& t) noexcept override;
  void group_begin(unsigned self, group_info& info) noexcept override;
  placement group_end(unsigned self, group_info& info) noexcept override;
  bool fork_begin(unsigned self, const fork_info& info) noexcept override;
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept override;
  placement fork_end(unsigned self, task& owner, std::uint64_t elapsed) noexcept override;

 private:
  enum class mode : std::uint8_t { none, record, relaxed, strict };
  struct in_iteration;

  // The record of one call site. Used by whoever holds busy_.
  struct site {
    const void* label{nullptr};  // code of the iteration's first child
    steal_tree tree;
    bool has_tree{false};
    unsigned relaxed_left{0};  // iterations under RelWS before the next strict one
    unsigned misfits{0};       // strict iterations in a row that the record did not fit
    bool said_strict{false};
  };

  // Pieces sent to a worker, which no other may take, sorted by the order in which they began there.
  class piece_queue {
   public:
    void insert(task& t) noexcept;
    // The first piece, if its place in the order is `due` or before.
    task* take(unsigned due) noexcept;
    bool has(unsigned due) noexcept;
    // a hint, or after a heavy fence
    bool looks_empty() const noexcept { return size_.load(std::memory_order_relaxed) == 0; }

   private:
    detail::spin_word lock_;
    task_list list_;                 // under lock_
    std::atomic<unsigned> size_{0};  // written under lock_
  };

  struct alignas(64) station {
    shared_task_list kept;           // this worker's alone, newest last
    shared_task_list open;           // anybody's, newest last
    shared_task_list passed;         // recorded pieces of a relaxed iteration, oldest first; anybody's
    piece_queue assigned;            // recorded pieces of a strict one
    std::atomic<unsigned> begun{0};  // pieces, in this iteration; its worker's, and reset by whoever begins one
    std::atomic<unsigned> left{0};   // recorded pieces that have not begun; written by whoever begins one
    // Tasks of the iteration that this worker made, and that ended
    // here: written by it alone, read by who ends the iteration.
    std::atomic<std::uint64_t> made{0};
    std::atomic<std::uint64_t> ended{0};
    std::size_t met{0};             // lines of the table that its tasks came by; this worker's, as those below
    unsigned in_vain{0};            // searches
    unsigned stuck{0};              // searches in a row in which nobody ran anything
    steal_node* nodes{nullptr};     // free ones
    steal_node* reserved{nullptr};  // for the next fork, and for the iteration that it may begin
    steal_node* reserved_root{nullptr};
  };

  // Words of tasks: constrained_ws_tasks.hpp.
  static inline char outside_, inside_;
  static in_iteration& state_of(task& t) noexcept;

  // Workers take from each other's fork queues. With one root alive these hold only what belongs to one worker:
  // pieces under strict replay, and for a moment a fork that is to be recorded [relws:6].
  bool robs() const noexcept { return (roots_.load() & ~1u) > one_root || (roots_.load() & 1u) != 0; }
  static constexpr unsigned one_root = 2;
  // A fork or child is left to the fork queues without a record [relws:6].
  void leave_unrecorded() noexcept {
    if (settings_.how == replay::relws && (roots_.load() & 1u) == 0 && (roots_.fetch_or(1) & 1u) == 0) host_->widened();
  }
  void end_root() noexcept;
  static constexpr unsigned any_order = ~0u;
  // relaxed: the worker's own; before it has a piece of the iteration, a hint
  unsigned due(const station& mine) const noexcept {
    return loosened_.load() ? any_order : mine.begun.load(std::memory_order_relaxed);
  }
  site& site_of(const void* label) noexcept;
  bool begin_iteration(unsigned self, task& owner, const void* label, steal_node* root) noexcept;
  placement end_iteration(unsigned self, task& owner) noexcept;
  void conclude(unsigned self) noexcept;
  void conclude_record(unsigned self) noexcept;
  void conclude_strict(unsigned self) noexcept;
  bool has_strays() const noexcept;
  bool may_begin() const noexcept { return !busy_.load() || closing_.load(); }

  placement record_child(unsigned self, const task_info& info) noexcept;
  bool prepare_fork(unsigned self, task& owner) noexcept;
  placement hand_out(unsigned self, task& parent, task& child, steal_node* node) noexcept;
  // a statistic
  void misfit(std::size_t tasks) noexcept {
    misfits_.fetch_add(tasks, std::memory_order_relaxed);
    loosened_.store(true);
  }
  void begin(unsigned self, task& t) noexcept;
  entry begun(unsigned self, task& t) noexcept {
    begin(self, t);
    return host_->entry_of(t);
  }
  entry next_own(unsigned self) noexcept;
  entry steal_from(unsigned self, unsigned victim, effort how) noexcept;
  void check_stuck(unsigned self) noexcept;

  const settings settings_;
  unsigned workers_{0};
  std::unique_ptr<station[]> stations_;  // by rank
  steal_nodes nodes_;
  steal_tree next_tree_;                     // of the iteration that ends; its memory serves again
  std::atomic<unsigned> roots_{0};           // living threads that are nobody's child, one_root each; bit 0: [relws:6]
  std::atomic<unsigned> root_home_{nobody};  // where the root of a recorded iteration was
  std::atomic<std::uintptr_t> groups_{0};    // numbers groups that could begin an iteration

  // The iteration that runs. busy_: somebody has it, and alone writes what follows; its tasks read it, ordered by the
  // lists that they came by. mode_ and loosened_ are read by anybody as hints.
  std::atomic<bool> busy_{false};
  std::atomic<bool> closing_{false};  // its root has ended it, though tasks of it are alive
  std::atomic<mode> mode_{mode::none};
  std::atomic<bool> loosened_{false};    // strict: the order of pieces is given up
  std::atomic<std::size_t> misfits_{0};  // strict: tasks that the record does not know
  site* current_{nullptr};
  void* opener_{nullptr};  // the group that began it; null: a fork
  steal_node* root_{nullptr};
  bool recorded_before_{false};

  static constexpr unsigned most_sites = 64;
  std::unique_ptr<site[]> sites_;
  unsigned next_site_{0};  // to be used, or reused
};

}  // namespace heddle::policy

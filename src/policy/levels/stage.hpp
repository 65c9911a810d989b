// One policy over a part of the machine, a component of the policy `levels`, which holds several. A stage is a place
// where tasks are. The inner policy sees it as its host (stage_host.hpp), whose workers are the stage's members. On the
// innermost stages a member is a worker, and its queue is the worker's own. On the stages above, a member is a memory
// group, with a queue in its member, and any worker of the group acts for it, one at a time. Rules and invariants:
// levels.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <heddle/detail/spin_word.hpp>

#include <heddle/policy.hpp>
#include "policy/levels/machine_part.hpp"
#include "policy/levels/stage_host.hpp"
#include "policy/task_list.hpp"

namespace heddle::policy {

class stage;
struct member_queue;
struct level_task;

inline constexpr unsigned most_levels = 4;

// A task as the policy of one stage knows it, with a tag, links and room of its own [levels:1].
struct shadow {
  task seen;
  level_task* of;
};
inline level_task& level_task_of(task& seen) noexcept { return *reinterpret_cast<shadow*>(&seen)->of; }

// The data that `levels` keeps of a task that some inner policy knows. The real task's tag names it. Written by the
// thread of the task, or by the worker that has the task; published by the lists in which it stands.
struct level_task {
  enum class way : std::uint8_t { by_policy, own_queue, resumed, loose };
  struct frame {  // the state before a group or a fork of the task
    double share, bytes;
    bool shown;  // for a fork: whether the policy has wished for it
  };
  static constexpr unsigned most_frames = 10;

  task* real;
  level_task* next_free;
  stage* in;      // the innermost stage that has the task
  unsigned made;  // the level of the outermost stage that has it
  // The member of `in` when the task was last begun or queued; above the innermost level.
  unsigned member;
  const void* label;
  double share;    // its share of its root's work on this level, as far as known
  double bytes;    // 0 if not known
  unsigned depth;  // the number of groups and forks inside which it is, on this level
  way goes;        // set between an answer `send` and `enqueue`
  bool begun;
  bool is_main;  // whether it is the thread that is laid out over all levels
  frame frames[most_frames];
  member_queue* holds[most_levels];  // by level: the member queue where it is a root of the level below
  shadow at[most_levels];            // by level

  task& here() noexcept;  // the shadow for the policy of `in`
};

// The member queue of a member above the innermost level.
struct alignas(64) member_queue {
  // The worker that holds it acts for the member, so that the inner policy is called by one worker of the group at a
  // time [levels:2].
  detail::spin_word turn;
  unsigned acting{0};  // under time slice: the worker's rank
  // The number of root tasks of the level below that live here, and of workers that run a task of this level. One at a
  // time: [levels:3].
  std::atomic<unsigned> busy{0};
  shared_task_list own;      // tasks that its tasks made, oldest first; the inner policy's `steal` takes the oldest
  shared_task_list resumed;  // tasks of this level that were woken and go on here
};

class stage {
 public:
  // An innermost stage: all workers of a memory group, or all workers of an unknown machine.
  stage(scheduler& real, unsigned level, std::unique_ptr<policy> inner, unsigned first, unsigned count,
        machine_part part);
  // A stage above: groups by their first ranks, the last of which ends before rank `end`.
  stage(scheduler& real, unsigned level, std::unique_ptr<policy> inner, const std::vector<unsigned>& first_ranks,
        unsigned end, std::vector<double> capacities, machine_part part);
  void begin();  // starts the inner policy

  policy& inner() noexcept { return *inner_; }
  const policy_wants& wants() const noexcept { return wants_; }
  unsigned level() const noexcept { return level_; }
  bool is_innermost() const noexcept { return queues_ == nullptr; }
  // Whether its tasks need not be watched, because the inner policy hears of no group, fork or child.
  bool is_unwatched() const noexcept { return is_innermost() && !wants_.spawns && !wants_.forks && !wants_.groups; }

  // For a worker of the real host, by rank: whether it is here, and for which member it acts.
  bool has(unsigned rank) const noexcept { return rank - first_ < count_; }
  unsigned member_of(unsigned rank) const noexcept {
    return is_innermost() ? rank - first_ : member_of_[rank - first_];
  }

  unsigned members() const noexcept { return members_; }
  // The member's workers have the ranks [first_of, end_of); on an innermost stage that is one worker.
  unsigned first_of(unsigned member) const noexcept { return is_innermost() ? first_ + member : first_ranks_[member]; }
  unsigned end_of(unsigned member) const noexcept {
    return is_innermost() ? first_ + member + 1 : member + 1 < members_ ? first_ranks_[member + 1] : first_ + count_;
  }
  // The worker that acts for the member.
  unsigned actor(unsigned member) const noexcept { return is_innermost() ? first_ + member : queues_[member].acting; }
  member_queue& queue_of(unsigned member) const noexcept { return queues_[member]; }
  double capacity_of(unsigned member) const noexcept { return capacities_[member]; }
  shared_task_list& loose() noexcept { return loose_; }

  // Calls f(member) for the worker's member, as the member's only worker at the moment. Calls f(nobody) for a thread
  // outside.
  template <class F>
  decltype(auto) act(unsigned self, F&& f) noexcept {
    if (self == nobody || !has(self)) return f(nobody);
    const unsigned member = member_of(self);
    if (is_innermost()) return f(member);
    std::lock_guard hold(queues_[member].turn);
    queues_[member].acting = self;
    return f(member);
  }
  // Wakes one sleeping worker of the member. Returns false if no worker there sleeps.
  bool wake_member(unsigned member) noexcept;
  void wake_any(unsigned near) noexcept;

  // The entry with which the inner policy answers, so that this task is run. Above the innermost level an entry is the
  // level_task; `levels` makes it a real one when the policy has chosen it.
  entry entry_of(task& t) noexcept;

 private:
  scheduler& real_;
  const unsigned level_;
  const std::unique_ptr<policy> inner_;
  policy_wants wants_;
  const unsigned first_, count_;  // ranks of the real host
  const unsigned members_;
  std::vector<unsigned> first_ranks_;       // by member; above the innermost level, as are the next three
  std::vector<unsigned> member_of_;         // by rank - first_
  std::vector<double> capacities_;          // bytes, by member; 0 if not known
  std::unique_ptr<member_queue[]> queues_;  // by member
  std::atomic<unsigned> woken_{0};          // calls of wake_any
  // On an innermost stage: tasks that any of its workers may begin, though no queue of the policy has them.
  shared_task_list loose_;
  stage_host host_;
};

inline task& level_task::here() noexcept { return at[in->level()].seen; }

}  // namespace heddle::policy

// The tasks that are made and that nobody has begun: a queue for each member of a team, which is heddle's private-first
// deque, and a list of the team for those that such a queue does not suit. Protocol: omp/tasks.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "omp/core/locks/short_lock.hpp"
#include "omp/core/tasks/task.hpp"
#include "omp/seam.hpp"

namespace heddle::omp {

namespace queue = heddle::queue;

class thread;
struct team;
struct reduction_copies;  // task_reduction.cpp

// What one member of one team has made. Made by that member with its first task, and kept as long as the team: where
// another thread takes the member's place (settle_places), it gets what the first one had.
struct member_tasks {
  member_tasks(thread& who, team& whose);

  heddle::detail::fork_queue queue;
  thread* owner;  // who has the member's place in this region, if it has made a task in it
  team* in;
  // [omp_task:7] The owner's next push takes the slow path for certain. Owner's.
  std::atomic<bool> quiet{true};
  // For so many slow pushes and pops it stays quiet though nobody sleeps: a sleeper has just paid a heavy fence because
  // it was not. A hint; set by that one, counted down by the owner.
  std::atomic<unsigned> wary{0};
  std::ptrdiff_t enough[2];  // of tasks of depth 1 and 2, and below; never changes, as the next one
  bool defers_all{false};    // what does not fit into the queue goes to the team's list
  unsigned next_victim{0};   // owner's
  unsigned hungry_turns{0};  // looks in vain since the last task; owner's
  // [omp_task:4] All that this member has made and has ended so far; owner's, read by those that ask whether the team
  // has unfinished tasks. Each of `made` is written before the task is queued, each of `ended` last of all.
  alignas(64) std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> ended{0};

  // More would be of no use to anybody: so many are queued that whoever runs out of work finds some. Deep in a
  // recursion a few are enough, for the oldest are the largest there, and there will be others soon.
  bool has_enough(const task& parent) const noexcept {
    const std::ptrdiff_t positions = queue.bottom.load(std::memory_order_relaxed) - queue.base;  // own variable
    return positions >= enough[parent.depth.load(std::memory_order_relaxed) > 1 ? 1 : 0] && positions > stolen();
  }

  // A thief would find nothing here.
  bool has_none() const noexcept {
    return queue.bottom.load(std::memory_order_relaxed) - queue.base <= stolen();  // own variable
  }
  // Of these positions; a hint (queue::has_any, which is not inlined).
  std::ptrdiff_t stolen() const noexcept {
    constexpr std::uint64_t top = queue::largest_capacity + 1;  // its bits in `open`
    return static_cast<std::ptrdiff_t>(queue.open.load(std::memory_order_relaxed) & top);
  }

  void count_made() noexcept {
    // relaxed: to others it is published with the task, by its queue
    made.store(made.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void count_ended() noexcept {
    // release pairs with team_tasks::unfinished: what the task has made
    ended.store(ended.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  std::unique_ptr<heddle::detail::slot[]> slots_;
};

// One that sleeps, or is about to, where it could run a task. Lives on its stack.
struct task_sleeper {
  thread* who{nullptr};
  const task* under{nullptr};  // it may run descendants of that only; null: all tasks of the team
  task_sleeper* next{nullptr};
  task_sleeper* previous{nullptr};
  std::atomic<bool> woken{false};  // written by who has taken it out of the list
};

// The team's part.
class team_tasks {
 public:
  team_tasks() = default;
  team_tasks(const team_tasks&) = delete;
  team_tasks& operator=(const team_tasks&) = delete;
  ~team_tasks();

  // The leader, before the members of a region begin: that there will be so many. Throws std::bad_alloc.
  void prepare(unsigned members);

  // The caller's own. Throws std::bad_alloc.
  member_tasks& of(thread& self);

  // Whether a task that was made has not ended. Exact if all members have arrived at a barrier ([omp_task:4]); else
  // true may be out of date at once, and false means nothing.
  bool unfinished() const noexcept;

  // Makes a task known that is ready; its parent cannot be freed meanwhile. Called by the member `mine` belongs to.
  // False: the queue is full, and the caller runs it itself.
  [[nodiscard]] bool push(member_tasks& mine, explicit_task& it) noexcept {
    if (it.priority > 0) [[unlikely]] {
      share(it);
      return true;
    }
    return push_usual(mine, it, *it.parent);  // the task may be gone once it is queued: a thief by force asks nobody
  }
  // The same for one without a priority, of which nothing is read: it may lie in another processor's caches.
  [[nodiscard]] bool push_usual(member_tasks& mine, explicit_task& it, const task& parent) noexcept {
    auto& q = mine.queue;
    heddle::detail::slot* const position =
        heddle::detail::store_newest(q, reinterpret_cast<heddle::detail::entry>(&it));
    if (heddle::detail::needs_slow_push(q, position)) [[unlikely]]  // a sleeper's poison, [omp_task:8]
      return push_slow(mine, it, parent, position);
    return true;
  }
  // By anybody, also who is no member.
  void share(explicit_task& it) noexcept;
  // [omp_task:6] The member has nothing to run where it waits: what its queue has left is for others.
  void hand_over(member_tasks& mine) noexcept;

  // The member's own, if it has made tasks in this team.
  member_tasks* known(unsigned number) const noexcept { return member(number); }

  // A task that the member may run while it waits in `under`, a descendant of that (null: at a barrier, where any task
  // of the team may run, [omp_task:6]). Null: there is none, or it hides.
  explicit_task* find(member_tasks& mine, const task* under) noexcept;
  // The same for its newest, which is what a wait wants first.
  explicit_task* newest(member_tasks& mine, const task* under) noexcept {
    auto& q = mine.queue;
    heddle::detail::slot* const position = q.bottom.load(std::memory_order_relaxed) - 1;  // own variable
    if (position < q.base) return nullptr;
    auto* const it = reinterpret_cast<explicit_task*>(position->load(std::memory_order_relaxed));  // owner writes slots
    if (under != nullptr && !may_descend(*it, *under)) return nullptr;
    heddle::detail::remove_newest(q, position);
    if (heddle::detail::needs_slow_pop(q, position) && !pop_slow(mine, position)) [[unlikely]]
      return nullptr;
    if (under == nullptr || it->parent == under || descends(*it, *under)) [[likely]]
      return it;
    share(*it);
    return nullptr;
  }
  // Whether find() would perhaps find something. A hint.
  bool may_find(const member_tasks* mine, const task* under) const noexcept;

  // [omp_task:8] The caller is about to sleep in `under`, and from now on is woken for what it may run. Afterwards it
  // looks once more whether there is something (may_find).
  void enlist(task_sleeper& who, member_tasks* mine) noexcept;
  void dismiss(task_sleeper& who) noexcept;
  // After a sequentially consistent fence. Wakes one that may run children of `parent`, or all that sleep.
  void wake_for(const task* parent) noexcept;

  // In the child of fork(): the other members do not exist, nor does whoever had a lock.
  void after_fork() noexcept;

  // Of tasks that threads which are no members have ended (omp_fulfill_event).
  std::atomic<std::uint64_t> ended_outside{0};
  std::atomic<std::uint32_t> outside{0};  // such threads that are still at it: the next region waits for them

  // Of a region and of a work-sharing construct with the task modifier that the team is in (task_reduction.hpp).
  std::atomic<reduction_copies*> shared_reductions[2]{};

 private:
  // Whether `it`, which may be gone, looks like a descendant: never no for one.
  static bool may_descend(const explicit_task& it, const task& from) noexcept {
    // relaxed: hints; the memory of tasks stays what it is ([omp_task:1])
    if (!from.is_explicit) return it.seat.load(std::memory_order_relaxed) == from.seat.load(std::memory_order_relaxed);
    return it.depth.load(std::memory_order_relaxed) > from.depth.load(std::memory_order_relaxed) &&
           it.root.load(std::memory_order_relaxed) ==
               static_cast<const explicit_task&>(from).root.load(std::memory_order_relaxed);
  }
  bool push_slow(member_tasks& mine, explicit_task& it, const task& parent, heddle::detail::slot* position) noexcept;
  bool pop_slow(member_tasks& mine, heddle::detail::slot* position) noexcept;
  // [omp_task:7] After a slow push or pop, and a fence.
  void keep_quiet_if_useful(member_tasks& mine, bool someone_slept) noexcept;
  explicit_task* take_shared(const task* under) noexcept;
  explicit_task* steal_from(member_tasks& mine, member_tasks& victim, const task* under) noexcept;
  // Takes one that may run children of `parent` out of the list; null: there is none.
  thread* choose(const task* parent) noexcept;
  void remove(task_sleeper& who) noexcept;
  void await_outside() const noexcept;
  // Between regions: those who are still in the list wait for their next region, and are not woken for tasks.
  void forget_sleepers() noexcept;

  member_tasks* member(unsigned number) const noexcept {
    // acquire pairs with of: the queue; and with prepare: the array
    return members_.load(std::memory_order_acquire)[number].load(std::memory_order_acquire);
  }

  // Of all arrays the last, which has room for size_. Those before it stay, for members that wait for their next region
  // may still look at them. Written by the leader between regions.
  std::atomic<std::atomic<member_tasks*>*> members_{nullptr};
  std::atomic<unsigned> size_{0};
  std::vector<std::unique_ptr<std::atomic<member_tasks*>[]>> arrays_;
  std::atomic<unsigned> room_{0};  // of the array; written as the array is

  // Tasks with a priority, those that became ready outside, and those that a thief has taken and must not run: ordered
  // by priority, the oldest first. shared_ counts them.
  std::atomic<std::uint32_t> shared_{0};
  mutable short_lock shared_guard_;
  explicit_task* first_shared_{nullptr};
  explicit_task* last_shared_{nullptr};

  std::atomic<std::uint32_t> sleeping_{0};  // in the list; raised before a sleeper looks at queues
  short_lock sleepers_guard_;
  task_sleeper* first_sleeper_{nullptr};
};

}  // namespace heddle::omp

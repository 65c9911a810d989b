// The tasks that are made and that nobody has begun: a queue for each member of a team, which is heddle's private-first
// deque, and a list of the team for those that such a queue does not suit. Protocol: omp/tasks.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <heddle/policy_victims.hpp>

#include "omp/core/locks/short_lock.hpp"
#include "omp/core/tasks/placing.hpp"
#include "omp/core/tasks/task.hpp"
#include "omp/seam.hpp"

namespace heddle::omp {

namespace queue = heddle::queue;

class thread;
struct team;
struct reduction_copies;  // task_reduction.cpp

// The tasks that a member of a team has made. The object is made by that member with its first task, and kept as long
// as the team. If another thread takes the member's number (settle_places), it gets the first one's object.
struct member_tasks {
  member_tasks(thread& who, team& whose);

  heddle::detail::fork_queue queue;
  // The thread that has the member's number in this region, if it has made a task in it.
  thread* owner;
  team* in;
  // [omp_task:7] Set if the owner's next push takes the slow path for certain. Written by the owner.
  std::atomic<bool> unannounced{true};
  // For so many slow pushes and pops it stays unannounced though no thread sleeps, because a sleeper has just paid a
  // heavy fence since it was not. A hint; set by that sleeper, counted down by the owner.
  std::atomic<unsigned> wary{0};
  std::ptrdiff_t enough[2];  // of tasks of depth 1 and 2, and below; never changes, as the next one
  bool defers_all{false};    // what does not fit into the queue goes to the team's list
  unsigned hungry_looks{0};  // looks in vain since the last task; owner's
  heddle::policy::victim_rule victims_are{};
  heddle::policy::past_victims past;  // by their numbers in the team; owner's
  base::random_source random;         // owner's
  placing::mailbox given;             // tasks that the policy has placed with its worker
  // [omp_task:4] All that this member has made and has ended so far; owner's, read by those that ask whether the team
  // has unfinished tasks. Each of `made` is written before the task is queued, each of `ended` last of all.
  alignas(64) std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> ended{0};

  // Whether more tasks would be useless, because so many are queued that every thread that runs out of work finds some.
  // Deep in a recursion a few are enough: the oldest are the largest there, and there will be others soon.
  bool has_enough(const task& parent) const noexcept {
    const std::ptrdiff_t positions = queue.bottom.load(std::memory_order_relaxed) - queue.base;  // own variable
    return positions >= enough[parent.depth.load(std::memory_order_relaxed) > 1 ? 1 : 0] && positions > stolen();
  }

  // Whether a thief would find nothing here.
  bool has_none() const noexcept {
    return queue.bottom.load(std::memory_order_relaxed) - queue.base <= stolen();  // own variable
  }
  // The number of positions whose entries are stolen. A hint (queue::has_any, which is not inlined).
  std::ptrdiff_t stolen() const noexcept {
    constexpr std::uint64_t top = queue::largest_capacity + 1;  // its bits in `open`
    return static_cast<std::ptrdiff_t>(queue.open.load(std::memory_order_relaxed) & top);
  }

  void count_made() noexcept {
    // relaxed: its queue publishes it to others with the task
    made.store(made.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void count_ended() noexcept {
    // release pairs with team_tasks::unfinished: publishes what the task has made
    ended.store(ended.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  std::unique_ptr<heddle::detail::slot[]> slots_;
};

// A thread that sleeps, or is about to, where it could run a task. Lives on its stack.
struct task_sleeper {
  thread* who{nullptr};
  // It may run only descendants of that; null means all tasks of the team.
  const task* under{nullptr};
  task_sleeper* next{nullptr};
  task_sleeper* previous{nullptr};
  std::atomic<bool> woken{false};  // written by the thread that has taken it out of the list
};

// The part that belongs to the team.
class team_tasks {
 public:
  team_tasks() = default;
  team_tasks(const team_tasks&) = delete;
  team_tasks& operator=(const team_tasks&) = delete;
  ~team_tasks();

  // Called by the leader before the members of a region begin. Makes room for so many members. Throws std::bad_alloc.
  void prepare(unsigned members);

  // The caller's own member tasks. Throws std::bad_alloc.
  member_tasks& of(thread& self);

  // Whether a task that was made has not ended. Exact if all members have arrived at a barrier ([omp_task:4]).
  // Otherwise true may be out of date at once, and false means nothing.
  bool unfinished() const noexcept;

  // Queues a ready task, whose parent cannot be freed meanwhile. Called by the member to which `mine` belongs. Returns
  // false if the queue is full; the caller then runs the task itself.
  [[nodiscard]] bool push(member_tasks& mine, explicit_task& it) noexcept {
    if (it.priority > 0) [[unlikely]] {
      share(it);
      return true;
    }
    if (placing::on()) [[unlikely]]
      return placing::push(mine, it);
    return push_usual(mine, it, *it.parent);  // the task may be gone once it is queued: a thief by force asks nobody
  }
  // The same for a task without a priority. It reads nothing of the task, which may lie in another processor's caches.
  [[nodiscard]] bool push_usual(member_tasks& mine, explicit_task& it, const task& parent) noexcept {
    auto& q = mine.queue;
    heddle::detail::slot* const position =
        heddle::detail::store_newest(q, reinterpret_cast<heddle::detail::entry>(&it));
    if (heddle::detail::needs_slow_push(q, position)) [[unlikely]]  // a sleeper's poison, [omp_task:8]
      return push_slow(mine, it, parent, position);
    return true;
  }
  // May be called by any thread, also by one that is no member.
  void share(explicit_task& it) noexcept;
  // [omp_task:6] Called when the member has nothing to run where it waits. The rest of its queue is for others.
  void hand_over(member_tasks& mine) noexcept;

  // The member's own, if it has made tasks in this team; else null.
  member_tasks* known(unsigned number) const noexcept { return member(number); }

  // A task that the member may run while it waits in `under`: a descendant of that, or, if `under` is null (at a
  // barrier), any task of the team ([omp_task:6]). Null if there is none, or if it is hidden.
  explicit_task* find(member_tasks& mine, const task* under) noexcept;
  // The same for the member's newest task, which a wait tries first.
  explicit_task* newest(member_tasks& mine, const task* under) noexcept {
    auto& q = mine.queue;
    heddle::detail::slot* const position = q.bottom.load(std::memory_order_relaxed) - 1;  // own variable
    if (position < q.base) return nullptr;
    // relaxed: only the owner writes slots
    auto* const it = reinterpret_cast<explicit_task*>(position->load(std::memory_order_relaxed));
    if (under != nullptr && !may_descend(*it, *under)) return nullptr;
    heddle::detail::remove_newest(q, position);
    if (heddle::detail::needs_slow_pop(q, position) && !pop_slow(mine, position)) [[unlikely]]
      return nullptr;
    if (under == nullptr || it->parent == under || descends(*it, *under)) [[likely]]
      return it;
    share(*it);
    return nullptr;
  }
  // Whether find() might find something. A hint.
  bool may_find(const member_tasks* mine, const task* under) const noexcept;

  // [omp_task:8] Called when the caller is about to sleep in `under`. From then on it is woken for tasks that it may
  // run. Afterwards it looks once more whether there is something (may_find).
  void enlist(task_sleeper& who, member_tasks* mine) noexcept;
  void dismiss(task_sleeper& who) noexcept;
  // Must be called after a sequentially consistent fence. Wakes a thread that may run children of `parent`.
  void wake_for(const task* parent) noexcept;

  // In the child of fork(): the other members do not exist, nor does whoever had a lock.
  void after_fork() noexcept;

  // The number of tasks that threads which are no members have ended (omp_fulfill_event).
  std::atomic<std::uint64_t> ended_outside{0};
  // The number of such threads that are still at it; the next region waits for them.
  std::atomic<std::uint32_t> outside{0};

  // The copies of the team's region and of its present work-sharing construct with the task modifier
  // (task_reduction.hpp).
  std::atomic<reduction_copies*> shared_reductions[2]{};

 private:
  // Whether `it`, which may be gone, looks like a descendant. It never returns false for a descendant.
  static bool may_descend(const explicit_task& it, const task& from) noexcept {
    // relaxed: hints; the memory of tasks remains tasks ([omp_task:1])
    if (!from.is_explicit)
      return it.root_member.load(std::memory_order_relaxed) == from.root_member.load(std::memory_order_relaxed);
    return it.depth.load(std::memory_order_relaxed) > from.depth.load(std::memory_order_relaxed) &&
           // relaxed: as above
           it.root.load(std::memory_order_relaxed) ==
               static_cast<const explicit_task&>(from).root.load(std::memory_order_relaxed);
  }
  bool push_slow(member_tasks& mine, explicit_task& it, const task& parent, heddle::detail::slot* position) noexcept;
  bool pop_slow(member_tasks& mine, heddle::detail::slot* position) noexcept;
  // [omp_task:7] Called after a slow push or pop, and a fence.
  void keep_unannounced_if_useful(member_tasks& mine, bool someone_slept) noexcept;
  explicit_task* take_shared(const task* under) noexcept;
  explicit_task* steal(member_tasks& mine, const task* under) noexcept;
  explicit_task* steal_from(member_tasks& mine, member_tasks& victim, const task* under) noexcept;
  // Takes a sleeper that may run children of `parent` out of the list. Returns null if there is none.
  thread* choose(const task* parent) noexcept;
  void remove(task_sleeper& who) noexcept;
  void await_outside() const noexcept;
  // Called between regions: threads that are still in the list wait for their next region, and are not woken for tasks.
  void forget_sleepers() noexcept;

  member_tasks* member(unsigned number) const noexcept {
    // acquire pairs with of: makes the queue visible; and with prepare: makes the array visible
    return members_.load(std::memory_order_acquire)[number].load(std::memory_order_acquire);
  }

  // The last of all arrays, which has room for size_. Earlier arrays stay, because members that wait for their next
  // region may still look at them. Written by the leader between regions.
  std::atomic<std::atomic<member_tasks*>*> members_{nullptr};
  std::atomic<unsigned> size_{0};
  std::vector<std::unique_ptr<std::atomic<member_tasks*>[]>> arrays_;
  std::atomic<unsigned> room_{0};  // the room of the array; written as the array is

  // Tasks with a priority, tasks that became ready outside, and tasks that a thief has taken and must not run, ordered
  // by priority, the oldest first. shared_ counts them.
  std::atomic<std::uint32_t> shared_{0};
  mutable short_lock shared_guard_;
  explicit_task* first_shared_{nullptr};
  explicit_task* last_shared_{nullptr};

  // the number of threads in the list; raised before a sleeper looks at queues
  std::atomic<std::uint32_t> sleeping_{0};
  short_lock sleepers_guard_;
  task_sleeper* first_sleeper_{nullptr};
};

}  // namespace heddle::omp

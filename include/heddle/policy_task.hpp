/// The words of the interface between schedulers and the mechanism (policy.hpp): items, tasks, groups, forks, and the
/// features that a policy switches on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <type_traits>

#include <heddle/task_usage.hpp>

namespace heddle::policy {

/// An item that a worker can run: a task, the second half of a fork, or a child. It is opaque; 0 means nothing.
using entry = std::uintptr_t;

inline constexpr unsigned nobody = ~0u;  ///< a foreign kernel thread, or no worker at all
/// A hint of work that was not given.
inline constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

/// A user-level thread, as its policy sees it: a tag, links, and room for the policy's own data. It belongs to the
/// owner of the thread. A policy that hands a thread to another worker publishes these fields with it.
struct task {
  /// The tag is null when the thread is made, and then the policy has no part in it. If the policy sets it, the policy
  /// is told of the thread's wake-ups and of its end.
  void* tag{nullptr};
  /// The place where a task goes for which the policy has answered `send`; see policy::send_to. It consists of two
  /// numbers of the policy's own.
  struct destination {
    unsigned target;
    unsigned slot;
  };
  union {
    task* next;  ///< a link of the policy's list that the task is in
    /// Valid between an answer `send` and the call of `enqueue`, when the task is in no list.
    destination to;
  };
  task* previous;                 ///< the other link; both are unset while the task is in no list
  alignas(8) std::byte room[40];  ///< for keep and get

  /// Begins the policy's own data of the task: a T, which get<T>() finds from then on. T must be trivial and fit into
  /// the task, which is checked at compile time. A policy that contains another one makes the other's T the first
  /// member of its own.
  template <class T>
  T& keep(const T& value) noexcept {
    check<T>();
    return *::new (static_cast<void*>(room)) T(value);
  }
  template <class T>
  T& get() noexcept {
    check<T>();
    return *std::launder(reinterpret_cast<T*>(room));
  }

  template <class T>
  static constexpr void check() noexcept {
    static_assert(sizeof(T) <= sizeof room && alignof(T) <= 8, "a policy has 40 bytes in a task");
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                  "nobody destroys what a policy keeps in a task");
  }
};

/// The effort of a search. A glance costs little and misses entries that victims keep private; `insist` takes those,
/// too.
enum class effort : std::uint8_t { glance, insist };

/// The place where a task is to go.
enum class placement : std::uint8_t {
  /// For a new task: it runs at once, and the spawner's continuation becomes stealable.
  child_first,
  parent_first,  ///< for a new task: it is queued, and the spawner goes on
  stay,          ///< for an existing task: it stays where it is, or goes to the worker that woke it
  send           ///< the mechanism makes it ready to run and calls `enqueue`
};

/// The features of the mechanism that a policy switches on. The first eleven follow from the functions that the policy
/// overrides (see `create`); the policy sets the others itself, in its constructor or in `start`. `ready` and
/// `task_end` need no flag, because they are called for exactly the tasks whose `tag` the policy has set.
struct policy_wants {
  /// Calls `spawn` for each child of a group. If off, children are queued like second halves of forks.
  bool spawns = false;
  /// Calls `fork_begin` for each second half of parallel_invoke, and of a loop that is cut.
  bool forks = false;
  bool groups = false;  ///< calls `group_begin`, `group_wait`, `group_end`
  /// Calls `started`. If off, a thread that is nobody's child is treated like one that was woken.
  bool roots = false;
  /// Calls `pick`. If off, a worker takes from its own queue, then from its ready threads, then from `acquire`.
  bool picks = false;
  bool limits = false;  ///< calls `may_rob`; if off, a worker may take from every other
  /// Calls `preempted`. If off, an interrupted task waits among its worker's ready threads.
  bool preemptions = false;
  bool usage = false;  ///< calls `used`; if off, nothing is counted
  /// Calls `workers_changed` and measures `speed`. If off, the speed is the declared one.
  bool changes = false;
  bool beats = false;       ///< calls `beat`
  bool iterations = false;  ///< calls `next_iteration`

  /// The policy calls scheduler::ask. If this is off, `ask` always returns false.
  bool asks = false;
  /// A promise of the policy [seam:5]: no worker sleeps while its `acquire` could find something. The mechanism relies
  /// on it after a wake-up: a worker that was woken and has found something wakes another one for the rest of the work.
  /// A policy that cannot promise this sets the flag to false in its constructor.
  bool work_conserving = true;
  usage_figures figures;  ///< the figures that `used` is to tell; figures that are not wanted are not read
  /// Measures how long groups and forks took: group_info::elapsed, and the argument of `fork_end`.
  bool elapsed = false;
  bool running = false;     ///< maintains scheduler::running
  unsigned beat_us = 1000;  ///< microseconds from one call of `beat` to the next; at least 100
  /// `workers_changed` is called when a worker's speed has moved by more than this.
  double speed_step = 0.125;
};

/// A task that is made: the child of a group, the second half of a fork, or a thread that is nobody's child.
struct task_info {
  task& made;         ///< the new task
  task* parent;       ///< the task that made it; null if it is nobody's child
  const void* label;  ///< the address of the task's code, which is the same for all tasks of one place in the program
  double work;        ///< a hint of its work, or not_given
  /// A hint of the work of all children of the group, or of both halves of the fork, or not_given.
  double group_work;
  std::size_t bytes;  ///< a hint of the bytes that the group or the fork touches; 0 if not given
  /// The number of children of the group that the policy was shown before; 1 for a second half.
  unsigned index;
  /// The number of children that the group is to have (task_group::expect), including this task; 0 if not told.
  unsigned siblings;
  /// The value that group_begin left. Null if group_begin was not called, or if the maker does not own the group.
  void* group_data;
};

/// A task group, from its making, or from its first child after a wait, to the end of its wait.
struct group_info {
  double work;        ///< a hint, or not_given
  std::size_t bytes;  ///< a hint; 0 if not given
  unsigned children;  ///< the number of children that `spawn` was called for so far
  /// The number of children that it is to have (task_group::expect); 0 if not told.
  unsigned expected;
  task& owner;
  void* data;  ///< for the policy; null at first
  /// The nanoseconds since group_begin, by the mechanism's clock. 0 if policy_wants::elapsed is not set, and in
  /// group_begin.
  std::uint64_t elapsed{0};
};

/// A fork. The caller runs the first half; the second half may go elsewhere.
struct fork_info {
  double first;  ///< hints of work, or not_given
  double second;
  std::size_t bytes;  ///< a hint, of both halves together; 0 if not given
  task& owner;
};

}  // namespace heddle::policy

/// Task groups: children that may block, and that are joined together.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <heddle/detail/fork_queue.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>
#include <heddle/preemption.hpp>
#include <heddle/priority.hpp>

namespace heddle {

class task_group;

namespace detail {

struct child_handle;  // a fiber::thread

// The waits for a group by threads that do not own it. Protocol and proof: src/task/groups.md, "Waits by other
// threads".
struct group_sharing {
  spin_word guard;
  waiter_list others;    // under guard: the waiters behind the first one
  waiter* first;         // the first waiter, written before `first_waits` is added
  bool has_first;        // under guard
  bool settled;          // under guard, and the owner's: `owed` stays 0
  std::int64_t counted;  // under guard: the part of `owed` that `outstanding` contains
};

// The state shared by a task group's owner and its children. Counting (src/task/groups.md): some children are not
// counted at all, namely a child that the owner runs by itself, and a child that gives the spawner's continuation back
// by a return. `owed` is the owner's own number of the other children. When the owner waits it adds `owed` to
// `outstanding`, from which each of those children subtracts one at its end.
struct group_state {
  static constexpr std::int64_t owner_waits = std::int64_t{1} << 48, first_waits = std::int64_t{1} << 49;
  static constexpr std::int64_t most_queued = 4096;
  static constexpr std::int64_t shared = -1, being_shared = -2;
  group_state() noexcept {}

  // The members stand in the order of who writes them: those that children write, those that the owner writes at each
  // child, and those that both read at each child. The distance between any two of these is at least a cache line, so
  // that a thief's child does not delay the owner's next one.

  // The number of outstanding children, plus `owner_waits` while the owner sleeps, or `first_waits` while the first
  // waiter of `sharing` sleeps. It publishes the children's work.
  std::atomic<std::int64_t> outstanding{0};
  waiter* sleeper;  // the owner's waiter, written before `owner_waits` is added
  std::exception_ptr error;
  void* policy_data{nullptr};
  double work;
  std::size_t bytes;
  // The time when the policy was told of the beginning, if it wants to know how long the group takes.
  std::uint64_t opened_at;
  std::atomic<unsigned> index{0};  // the number of children so far, if the policy watches them
  unsigned expected{0};            // the number of children that there will be, if the owner has told; otherwise 0

  std::atomic<std::int64_t> owed{0};  // written by the owner
  ticket newest{nullptr};             // the owner's: where it queued its last child
  bool runs_child{false};             // the owner's: a child runs on its stack
  // The owner's: the policy was told of the group's beginning but not of its end.
  bool open{false};
  union {
    group_sharing sharing;  // made by the first wait of another thread, which then makes most_owed `shared`
  };

  // When the owner owes this many, some children have to run first, so that the queue does not fill. The owner writes
  // it. The first wait by another thread makes it negative for good.
  std::atomic<std::int64_t> most_owed{most_queued};
  // The thread that made the group: a user-level thread, or the identity of a foreign kernel thread.
  void* owner{nullptr};
  std::atomic<bool> cancelled{false};  // any thread may set it
  // Set by the first child that threw, which then owns `error` until it is counted.
  std::atomic<bool> failed{false};
  // True if `level` and `technique` say how children are preempted; otherwise they are like the runtime's other
  // threads.
  bool kind_given{false};
  std::int8_t level{0};  // the priority of children; not normal only if kind_given
  // Both this and `storage` are written before the first child is made.
  preemption technique{preemption::none};
  heddle::tls storage{heddle::tls::carrier};

  // relaxed twice: the owner's own variable. The push of a child, and its end on this thread, publish it.
  std::int64_t owes() const noexcept { return owed.load(std::memory_order_relaxed); }
  void owe(std::int64_t more) noexcept { owed.store(owes() + more, std::memory_order_relaxed); }
  // relaxed: the heavy fence of [shared:1] orders it for the owner
  bool is_shared() const noexcept { return most_owed.load(std::memory_order_relaxed) < 0; }
  // relaxed, as in is_shared
  bool may_owe_more() const noexcept { return owes() < most_owed.load(std::memory_order_relaxed); }
};

// A child that has not begun: a job in a block of its spawner's worker. The group's owner begins it on the owner's own
// stack. Once it was taken from the queue, any thread that runs jobs may begin it. The spawner writes it, and then the
// thread that took it. A free block keeps `word`, `home` and `counted`.
struct alignas(64) group_child : job {
  using job::job;
  static constexpr std::size_t room_bytes = 80;
  group_child* next{nullptr};  // the next free block
  fork_queue* home{nullptr};   // the worker that made the block
  group_state* group{nullptr};
  void (*call)(void* room) noexcept {nullptr};  // runs and destroys the closure
  bool counted{false};                          // true if the group's counter includes it from the start
  alignas(16) unsigned char room[room_bytes];
};
static_assert(sizeof(group_child) == 128);

// As push_slow, for a child.
HEDDLE_API ticket push_child_slow(fork_queue* queue, slot* position) noexcept;
// Offers the child to thieves. After this it belongs to its taker, and may be gone.
[[gnu::always_inline]] inline ticket push_child(group_child& child) noexcept {
  return push_or(entry_of(&child), push_child_slow);
}

struct child_place {
  // A thread, to be started by start_child. If it is null, see `queued`. If that is null, too, there is no memory for a
  // stack, and the spawner runs the child itself.
  child_handle* child;
  group_child* queued;  // a block, to be queued by queue_child; or null
  void* room;
};
HEDDLE_API child_place make_child(group_state& group, std::size_t bytes, std::size_t alignment,
                                  void (*call)(void*) noexcept);
// Runs the child at once, queues it, or sends it, as the policy says. May suspend; the caller may go on on another
// worker.
HEDDLE_API void start_child(group_state& group, child_handle* child, double work, const void* label) noexcept;
// Any thread on a worker may call it, whether it owns the group or not.
HEDDLE_API void queue_child(group_state& group, group_child& child) noexcept;
// Undoes make_child when the closure's constructor has thrown.
HEDDLE_API void drop_child(child_handle* child, group_child* queued) noexcept;
// Begins a child on another stack if queue_child could not queue it because the queue is full.
HEDDLE_API void start_unqueued(group_child& child) noexcept;
// Called by the owner: runs the newest entries of its worker's queue, as long as they are children of the group. May
// suspend and migrate the caller, as each child may.
HEDDLE_API void run_children(group_state& group) noexcept;
// Returns true if the caller is the owner. Throws std::logic_error if a child of the group on the owner's stack calls.
HEDDLE_API bool wait_group_slow(group_state& group);
HEDDLE_API void child_threw(group_state& group) noexcept;
HEDDLE_API void open_group(group_state& group) noexcept;  // tells the policy
HEDDLE_API void close_group(group_state& group) noexcept;

// Throws std::invalid_argument.
HEDDLE_API void set_priority(group_state& group, priority level);
// Throws std::system_error(not_supported).
HEDDLE_API void set_kind(group_state& group, preemption technique, heddle::tls storage);

// Returns the identity of the calling foreign kernel thread. No other thread of any kind has the same identity while it
// lives.
HEDDLE_API void* foreign_owner() noexcept;

inline void begin_group(group_state& group) noexcept {
  fork_queue* queue = current_queue();
  if (queue == nullptr) [[unlikely]] {
    group.owner = foreign_owner();
    return;
  }
  group.owner = queue->running;
  if (queue->watches_groups) [[unlikely]]
    open_group(group);
}
// Returns true if the caller is the owner.
inline bool wait_group(group_state& group) {
  fork_queue* queue = current_queue();
  if (queue != nullptr && group.owner == queue->running) [[likely]] {
    if (group.owes() != 0) {
      run_children(group);
      queue = current_queue();
    }
    // acquire pairs with a child's last decrement: what the children did
    if (group.owes() == 0 && !group.open && group.outstanding.load(std::memory_order_acquire) == 0) [[likely]]
      return true;
  }
  return wait_group_slow(group);
}
inline void end_group(group_state& group) noexcept {
  if (group.open) [[unlikely]]
    close_group(group);
}

}  // namespace detail

/// Facts about a child for the policy. None of them is needed for correctness.
struct child_options {
  /// Its share of the group's work, in the group's unit; NaN if unknown.
  double work = std::numeric_limits<double>::quiet_NaN();
  /// Stands for the place in the program that the child comes from: children with equal labels are taken for runs of
  /// the same code. It may be any address. Null stands for the code of the closure, which is right unless many places
  /// share one closure.
  const void* label = nullptr;
};

/// A set of child tasks. A child may wait for anything without holding up its siblings or the worker, because any
/// worker may begin a child that has not begun, and a child that has begun is suspended like any user-level thread.
/// Hints are ratios, optional, and never needed for correctness.
///
/// If a child throws, the group is cancelled: children that have not begun are dropped, and wait() throws.
///
/// The owner is the thread that made the group: a user-level thread or a foreign kernel thread. Any thread may call
/// run(), as long as the group exists. Any thread but a child of the group may call wait(), several at once, and each
/// call returns when the group is empty. The owner's children are the cheapest, until another thread waits for the
/// group for the first time. The group must not be destroyed while a thread is inside a call. Children have no order.
/// Source: lazy task creation (Mohr, Kranz, Halstead, 1991); counting after Nowa (Schmaus et al., IPDPS 2021).
class task_group {
 public:
  /// `work` is the total of the children's work in any unit, NaN if unknown. `bytes` is the memory that they touch
  /// together, 0 if unknown.
  explicit task_group(double work = std::numeric_limits<double>::quiet_NaN(), std::size_t bytes = 0) noexcept {
    state_.work = work;
    state_.bytes = bytes;
    detail::begin_group(state_);
  }
  /// Does the same with a `stop` that can cancel the group: once a stop is requested, children that have not begun are
  /// dropped.
  explicit task_group(std::stop_token stop, double work = std::numeric_limits<double>::quiet_NaN(),
                      std::size_t bytes = 0) noexcept
      : task_group(work, bytes) {
    stop_ = std::move(stop);
  }
  /// Waits for children that are still there, which may suspend and migrate the caller; an exception of theirs is then
  /// lost. Any thread may call it.
  ~task_group() {
    if (detail::wait_group(state_)) [[likely]]
      detail::end_group(state_);
  }
  task_group(const task_group&) = delete;
  /// Sets how children made from then on are preempted. Must not be called by several threads at a time, nor during a
  /// call of run(). Throws std::system_error(not_supported) for a kind that cannot be had here.
  task_group& preempt(heddle::preemption how, heddle::tls storage = heddle::tls::as_runtime) {
    detail::set_kind(state_, how, storage);
    return *this;
  }
  /// Sets the priority of children made from then on. A child of another level than normal never runs at once: it
  /// becomes ready, and the caller goes on. Must not be called by several threads at a time, nor during a call of
  /// run(). Throws std::invalid_argument for a level that does not exist.
  task_group& priority(heddle::priority level) {
    detail::set_priority(state_, level);
    return *this;
  }
  task_group& operator=(const task_group&) = delete;

  /// Says how many children the owner is going to make before its next wait; 0 means not told. Policies that give each
  /// child a share of the workers, or of the data, lay the children out by it instead of guessing. Only the owner may
  /// call it, before the first child.
  task_group& expect(unsigned children) noexcept {
    state_.expected = children;
    return *this;
  }

  /// Makes f() a child, which another worker may begin from then on. Otherwise the owner begins it in wait(), on its
  /// own stack as long as 15/16 of a default stack are left there, or the worker does when the owner waits for
  /// something else. When 4,096 children of the owner's wait in this way, the caller first lets its worker run some of
  /// them, on another stack. Children whose closure is larger than 72 bytes begin at once, on stacks of their own, and
  /// thieves may take the caller's continuation. A policy that watches children decides in its own way. `work` is the
  /// child's share of the group's work. In a cancelled group f is not called. If there is no memory for a stack, f runs
  /// inside this call. A child that waits for something while no stack can be had ends the program with a message.
  /// Thread context: any; may suspend and migrate a user-level thread. Throws what copying f throws, and std::bad_alloc
  /// for a closure of more than a kilobyte; then there is no child.
  template <class F>
  void run(F&& f, double work = std::numeric_limits<double>::quiet_NaN()) {
    make(std::forward<F>(f), {work, nullptr});
  }
  /// Does the same, with more facts about the child.
  template <class F>
  void run(F&& f, child_options options) {
    make(std::forward<F>(f), options);
  }

  /// Does the same as run(f) and wait(), but f() runs at once on the caller's stack, while other workers may take the
  /// children that are there. So the last child costs only a call. An exception of f counts as a child's. It may
  /// suspend and migrate the caller, and throws what wait() throws.
  template <class F>
  void run_and_wait(F&& f) {
    if (!is_cancelled()) run_inline(f);
    wait();
  }

  /// Waits until all children have ended, then throws the first exception of a child, if any. The group can be used
  /// again afterwards. May suspend and migrate the caller. If several threads wait, one of them gets the exception, and
  /// none may cancel the group or add to it before all have returned. A child must not wait for its own group, because
  /// it would wait for itself: a child that runs on the owner's stack gets std::logic_error. Thread context: any.
  void wait() {
    if (detail::wait_group(state_)) [[likely]]
      detail::end_group(state_);
    // relaxed: set before the children ended, or lost
    if (state_.cancelled.load(std::memory_order_relaxed)) [[unlikely]]
      state_.cancelled.store(false);
    // relaxed: all children have ended, and wait_group ordered that before this
    if (state_.failed.load(std::memory_order_relaxed)) [[unlikely]]
      rethrow();
  }

  /// Drops the children that have not begun; the others see is_cancelled(). Thread context: any.
  void cancel() noexcept { state_.cancelled.store(true); }
  bool is_cancelled() const noexcept {
    // relaxed: a request, ordered by nothing
    return state_.cancelled.load(std::memory_order_relaxed) || stop_.stop_requested();
  }

 private:
  template <class Closure>
  struct held {
    task_group* group;
    Closure f;
    static void call(void* room) noexcept {
      auto* self = static_cast<held*>(room);
      if (!self->group->is_cancelled()) {
        try {
          self->f();
        } catch (...) {
          detail::child_threw(self->group->state_);
        }
      }
      std::destroy_at(self);
    }
  };

  template <class F>
  [[gnu::always_inline]] void make(F&& f, child_options options) {
    if (is_cancelled()) return;
    using closure = std::decay_t<F>;
    if constexpr (sizeof(held<closure>) <= 1024) {
      if constexpr (sizeof(held<closure>) <= detail::group_child::room_bytes && alignof(held<closure>) <= 16) {
        detail::fork_queue* queue = detail::current_queue();
        detail::group_child* child;
        if (queue != nullptr && state_.owner == queue->running && state_.may_owe_more() && queue->queues_children &&
            (child = queue->spare_children) != nullptr) [[likely]] {
          queue->spare_children = child->next;
          emplace<closure, F>(child->room, f, nullptr, child);
          child->group = &state_;
          child->call = held<closure>::call;
          state_.owe(1);
          state_.newest = detail::push_child(*child);
          if (state_.newest == nullptr) [[unlikely]]
            detail::start_unqueued(*child);
          return;
        }
      }
      if constexpr (std::is_trivially_copyable_v<closure>) {
        // The address of this copy may be known; the closure itself stays in registers.
        closure copy(f);
        run_slow<closure, closure>(copy, options);
      } else {
        run_slow<closure, F>(f, options);
      }
    } else {
      make([boxed = std::make_unique<closure>(std::forward<F>(f))] { (*boxed)(); }, options);
    }
  }

  // Constructs the closure. If it throws when it is copied, there is no child.
  template <class Closure, class F>
  [[gnu::always_inline]] void emplace(void* room, F& f, detail::child_handle* thread, detail::group_child* queued) {
    if constexpr (std::is_nothrow_constructible_v<Closure, F&&>) {
      ::new (room) held<Closure>{this, std::forward<F>(f)};
    } else {
      try {
        ::new (room) held<Closure>{this, std::forward<F>(f)};
      } catch (...) {
        detail::drop_child(thread, queued);
        throw;
      }
    }
  }

  template <class Closure, class F>
  [[gnu::noinline]] void run_slow(F& f, child_options options) {
    const detail::child_place place =
        detail::make_child(state_, sizeof(held<Closure>), alignof(held<Closure>), held<Closure>::call);
    if (place.room == nullptr) [[unlikely]]
      return run_inline(f);
    emplace<Closure, F>(place.room, f, place.child, place.queued);
    if (place.queued != nullptr) detail::queue_child(state_, *place.queued);
    else start(place.child, options, reinterpret_cast<const void*>(&held<Closure>::call));
  }

  void start(detail::child_handle* child, child_options options, const void* code) noexcept {
    detail::start_child(state_, child, options.work, options.label != nullptr ? options.label : code);
  }

  [[gnu::noinline]] void rethrow() {
    if (state_.failed.exchange(false)) std::rethrow_exception(std::exchange(state_.error, nullptr));
  }

  template <class F>
  void run_inline(F& f) noexcept {
    try {
      f();
    } catch (...) {
      detail::child_threw(state_);
    }
  }

  detail::group_state state_;
  std::stop_token stop_;
};

}  // namespace heddle

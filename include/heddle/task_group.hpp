/// Task groups: children that may block, joined together.
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

// What the children of a group and its owner share. Counting (see src/task/README.md, "Counting children"): a child whose
// spawner went on in its stead needs no count at all; `stolen` is the owner's own number of the others, and `outstanding`
// receives it when the owner waits, less one for each such child that has ended.
struct group_state {
  static constexpr std::int64_t waiting = std::int64_t{1} << 48;
  std::atomic<std::int64_t> outstanding{0};  // + waiting while an owner sleeps; written by owner and children; publishes their work
  std::int64_t stolen{0};                    // owner's
  waiter* sleeper{nullptr};                  // the owner's waiter, written before `waiting` is added
  std::atomic<bool> cancelled{false};        // set by any thread
  std::atomic<bool> failed{false};           // set by the first child that threw, which then owns `error` until it is counted
  std::exception_ptr error;
  void* owner{nullptr};                      // who made the group: a user-level thread, or what stands for a foreign kernel thread
  void* policy_data{nullptr};
  double work;
  std::size_t bytes;
  std::atomic<unsigned> index{0};            // children so far, when the policy watches them
  bool open{false};                          // owner's: the policy was told of the group's beginning and not of its end
  bool kind_given{false};                    // how children are preempted: as below, else as the runtime's other threads
  std::int8_t level{0};                      // priority of children; not normal only if kind_given
  preemption technique{preemption::none};    // both are written before the first child is made
  heddle::tls storage{heddle::tls::carrier};
};

struct child_place {
  child_handle* child;   // null: no memory for a stack; the spawner runs the child itself
  void* room;
};
HEDDLE_API child_place make_child(group_state& group, std::size_t bytes, std::size_t alignment, void (*call)(void*) noexcept);
// Runs it now, queues it, or sends it, as the policy says. May suspend; the caller may go on on another worker.
HEDDLE_API void start_child(group_state& group, child_handle* child, double work, const void* label) noexcept;
// Throws std::logic_error when the caller is not the owner.
HEDDLE_API void wait_group_slow(group_state& group);
HEDDLE_API void child_threw(group_state& group) noexcept;
HEDDLE_API void open_group(group_state& group) noexcept;    // tells the policy
HEDDLE_API void close_group(group_state& group) noexcept;

// Throws std::invalid_argument.
HEDDLE_API void set_priority(group_state& group, priority level);
// Throws std::system_error(not_supported).
HEDDLE_API void set_kind(group_state& group, preemption technique, heddle::tls storage);

// What tells the calling foreign kernel thread from all others, and from every user-level thread, while it lives.
HEDDLE_API void* foreign_owner() noexcept;

inline void begin_group(group_state& group) noexcept {
  fork_queue* queue = current_queue();
  if (queue == nullptr) [[unlikely]] {
    group.owner = foreign_owner();
    return;
  }
  group.owner = queue->running;
  if (queue->watches_groups) [[unlikely]] open_group(group);
}
inline void wait_group(group_state& group) {
  fork_queue* queue = current_queue();
  // acquire pairs with a child's last decrement: what the children did
  if (queue != nullptr && group.owner == queue->running && group.stolen == 0 && !group.open &&
      group.outstanding.load(std::memory_order_acquire) == 0) [[likely]] {
    return;
  }
  wait_group_slow(group);
}
inline void end_group(group_state& group) noexcept {
  if (group.open) [[unlikely]] close_group(group);
}

}  // namespace detail

/// A set of child tasks, each with a stack of its own, so that a child may wait for anything without holding up its
/// siblings or the worker. Hints are ratios, optional, and never needed for correctness.
///
/// run() may be called by the owner (the thread that made the group), by its children, and by any other thread as long as
/// the group exists and the owner has not passed wait(). wait() belongs to the owner.
/// Source: child-first spawning as in Cilk and MassiveThreads; counting after Nowa (Schmaus et al., IPDPS 2021).
class task_group {
 public:
  /// `work`: total of the children's work in any unit, NaN unknown. `bytes`: memory they touch together, 0 unknown.
  explicit task_group(double work = std::numeric_limits<double>::quiet_NaN(), std::size_t bytes = 0) noexcept {
    state_.work = work;
    state_.bytes = bytes;
    detail::begin_group(state_);
  }
  /// The same, cancelled from outside by `stop`: once a stop is requested children that have not begun are dropped.
  explicit task_group(std::stop_token stop, double work = std::numeric_limits<double>::quiet_NaN(), std::size_t bytes = 0) noexcept
      : task_group(work, bytes) {
    stop_ = std::move(stop);
  }
  /// Waits for children that are still there; an exception of theirs is lost then. std::terminate when called by another
  /// thread than the owner.
  ~task_group() {
    detail::wait_group(state_);
    detail::end_group(state_);
  }
  task_group(const task_group&) = delete;
  /// How children are preempted that are made from now on. Not called by several threads at a time, nor beside run(). Throws
  /// std::system_error(not_supported) for what cannot be had here.
  task_group& preempt(heddle::preemption how, heddle::tls storage = heddle::tls::as_runtime) {
    detail::set_kind(state_, how, storage);
    return *this;
  }
  /// Priority of children that are made from now on. Such a child, unless the level is normal, does not run at once: it becomes ready, and the caller
  /// goes on. The same restrictions. Throws std::invalid_argument for a level that does not exist.
  task_group& priority(heddle::priority level) {
    detail::set_priority(state_, level);
    return *this;
  }
  task_group& operator=(const task_group&) = delete;

  /// Runs f() as a child: under a child-first policy at once, with the caller's continuation open to thieves. `work` is its
  /// share of the group's. In a cancelled group nothing is run. May suspend; the caller may go on on another worker.
  template <class F>
  void run(F&& f, double work = std::numeric_limits<double>::quiet_NaN()) {
    if (is_cancelled()) return;
    using closure = std::decay_t<F>;
    if constexpr (sizeof(held<closure>) <= 1024) {
      const detail::child_place place = detail::make_child(state_, sizeof(held<closure>), alignof(held<closure>), held<closure>::call);
      if (place.child == nullptr) [[unlikely]] return run_inline(f);
      ::new (place.room) held<closure>{this, std::forward<F>(f)};
      detail::start_child(state_, place.child, work, reinterpret_cast<const void*>(&held<closure>::call));
    } else {
      run([boxed = std::make_unique<closure>(std::forward<F>(f))] { (*boxed)(); }, work);
    }
  }

  /// Suspends until all children have ended, then throws the first exception of a child, if any. The group can be used
  /// again afterwards. Throws std::logic_error when the caller is not the owner, be it a user-level or a kernel thread.
  void wait() {
    detail::wait_group(state_);
    detail::end_group(state_);
    if (state_.cancelled.load(std::memory_order_relaxed)) [[unlikely]] state_.cancelled.store(false);  // set before the children ended, or lost
    if (state_.failed.load(std::memory_order_relaxed)) [[unlikely]] {  // all children have ended: wait_group ordered it
      state_.failed.store(false);
      std::rethrow_exception(std::exchange(state_.error, nullptr));
    }
  }

  /// Children that have not begun are dropped; others see is_cancelled(). Thread context: any.
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

/// Event counts: waiting for a condition that lock-free code makes true.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <heddle/detail/deadline.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>

namespace heddle {

/// A condition variable without a mutex, for data structures whose state changes by atomic operations. A waiter
/// announces that it is going to wait, looks at the condition once more, and then sleeps or not. A thread that may have
/// made the condition true notifies, which costs a fence and a load if no thread waits.
///
/// Wake-ups may be spurious: always look at the condition again, as the forms with a predicate do. The object may be
/// destroyed when every call has returned. Thread context: any. commit_wait and await suspend, and may migrate, a
/// user-level thread; the other functions never do. Source: Vyukov's event counts; the name is from Reed and Kanodia
/// (CACM 22(2), 1979).
class event_count {
 public:
  /// The number of notifications that prepare_wait has seen.
  class key {
   private:
    friend class event_count;
    explicit key(std::uint32_t seen) noexcept : seen_(seen) {}
    std::uint32_t seen_;
  };

  event_count() noexcept = default;
  event_count(const event_count&) = delete;
  event_count& operator=(const event_count&) = delete;

  /// Takes the first step of a wait. Look at the condition after it; then call commit_wait or cancel_wait, exactly
  /// once.
  [[nodiscard]] key prepare_wait() noexcept {
    // This and the fence of notify are the two sides of Dekker's algorithm: either the notifier sees this waiter, or
    // the waiter's look at the condition sees what the notifier has changed.
    waiting_.fetch_add(1);
    return key(epoch_.load());
  }
  /// Ends the wait before it begins, because the condition holds.
  void cancel_wait() noexcept { waiting_.fetch_sub(1); }
  /// Sleeps, unless there was a notification since prepare_wait.
  void commit_wait(key seen) noexcept { wait_slow(seen.seen_, nullptr); }
  /// Does the same until a point in time. Returns false if it has passed.
  template <class Clock, class Duration>
  bool commit_wait_until(key seen, const std::chrono::time_point<Clock, Duration>& when) noexcept {
    const detail::deadline limit = detail::deadline_at(when);
    return wait_slow(seen.seen_, &limit);
  }

  /// Must be called after the condition may have become true. notify_one wakes at least one sleeper.
  void notify_one() noexcept { notify(1); }
  void notify_all() noexcept { notify(~std::uint32_t{0}); }

  /// Waits until ready() is true. `ready` is called by the waiting thread and may be called often. Throws what it
  /// throws.
  template <class Predicate>
  void await(Predicate ready) {
    while (!ready()) {
      const key seen = prepare_wait();
      if (look(ready)) return;
      commit_wait(seen);
    }
  }
  /// Does the same until a point in time. Returns the last result of ready().
  template <class Predicate, class Clock, class Duration>
  bool await_until(const std::chrono::time_point<Clock, Duration>& when, Predicate ready) {
    while (!ready()) {
      if (detail::has_passed(when)) return false;
      const key seen = prepare_wait();
      if (look(ready)) return true;
      static_cast<void>(commit_wait_until(seen, when));
    }
    return true;
  }

 private:
  // Called between prepare_wait and commit_wait. Returns true if the condition holds; the wait is then cancelled.
  template <class Predicate>
  bool look(Predicate& ready) {
    struct cancelling {
      event_count* of;
      ~cancelling() {
        if (of != nullptr) of->cancel_wait();
      }
    } unless_it_sleeps{this};
    if (ready()) return true;
    unless_it_sleeps.of = nullptr;
    return false;
  }
  void notify(std::uint32_t most) noexcept {
    // pairs with prepare_wait: the condition is changed before this looks for waiters
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // relaxed: ordered by the fence
    if (waiting_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      notify_slow(most);
  }
  struct request;
  HEDDLE_API bool wait_slow(std::uint32_t seen, const detail::deadline* limit) noexcept;
  HEDDLE_API void notify_slow(std::uint32_t most) noexcept;
  static bool enqueue(void* request, detail::waiter& w) noexcept;

  std::atomic<std::uint32_t> waiting_{0};  // the number of waiters that are prepared or asleep
  // The number of notifications that found a waiter; written under guard_.
  std::atomic<std::uint32_t> epoch_{0};
  detail::spin_word guard_;
  detail::waiter_list waiters_;  // under guard_
};

}  // namespace heddle

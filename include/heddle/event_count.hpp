/// Waiting for a condition that lock-free code makes true.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <heddle/detail/deadline.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>

namespace heddle {

/// A condition variable without a mutex: for data structures whose state changes by atomic operations. A waiter says
/// that it is going to wait, looks at the condition once more, and then sleeps or not. Whoever may have made the
/// condition true notifies, which costs a fence and a load where nobody waits.
///
/// Wake-ups may be spurious: always look at the condition again, as the forms with a predicate do. May be destroyed
/// when every call has returned. Thread context: any; commit_wait and await suspend, and may migrate, a user-level
/// thread; the others never do. Source: Vyukov's event counts; the name is of Reed and Kanodia (CACM 22(2), 1979).
class event_count {
 public:
  /// What prepare_wait has seen: how many notifications there were.
  class key {
   private:
    friend class event_count;
    explicit key(std::uint32_t seen) noexcept : seen_(seen) {}
    std::uint32_t seen_;
  };

  event_count() noexcept = default;
  event_count(const event_count&) = delete;
  event_count& operator=(const event_count&) = delete;

  /// First step of a wait. Look at the condition after it; then call commit_wait or cancel_wait, exactly once.
  [[nodiscard]] key prepare_wait() noexcept {
    // with the fence of notify, Dekker's two sides: the notifier sees this waiter, or the waiter's look at the
    // condition sees what the notifier has changed
    waiting_.fetch_add(1);
    return key(epoch_.load());
  }
  /// The condition holds: no wait after all.
  void cancel_wait() noexcept { waiting_.fetch_sub(1); }
  /// Sleeps, unless there was a notification since prepare_wait.
  void commit_wait(key seen) noexcept { wait_slow(seen.seen_, nullptr); }
  /// The same until a point in time. False: it has passed.
  template <class Clock, class Duration>
  bool commit_wait_until(key seen, const std::chrono::time_point<Clock, Duration>& when) noexcept {
    const detail::deadline limit = detail::deadline_at(when);
    return wait_slow(seen.seen_, &limit);
  }

  /// To be called after the condition may have become true. notify_one wakes one sleeper at least.
  void notify_one() noexcept { notify(1); }
  void notify_all() noexcept { notify(~std::uint32_t{0}); }

  /// Waits until ready() is true. `ready` is called by the waiting thread, and may be called often. Throws what it
  /// throws.
  template <class Predicate>
  void await(Predicate ready) {
    while (!ready()) {
      const key seen = prepare_wait();
      if (look(ready)) return;
      commit_wait(seen);
    }
  }
  /// The same until a point in time. Returns what ready() says at the end.
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
  // Between prepare_wait and commit_wait. True: the wait is cancelled.
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
    // pairs with prepare_wait: the condition is changed before it is asked who waits
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // relaxed: ordered by the fence
    if (waiting_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      notify_slow(most);
  }
  struct request;
  HEDDLE_API bool wait_slow(std::uint32_t seen, const detail::deadline* limit) noexcept;
  HEDDLE_API void notify_slow(std::uint32_t most) noexcept;
  static bool enqueue(void* request, detail::waiter& w) noexcept;

  std::atomic<std::uint32_t> waiting_{0};  // prepared or asleep
  std::atomic<std::uint32_t> epoch_{0};    // notifications that found somebody; written under guard_
  detail::spin_word guard_;
  detail::waiter_list waiters_;  // under guard_
};

}  // namespace heddle

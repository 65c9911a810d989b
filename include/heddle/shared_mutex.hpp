/// Shared mutexes: many readers or one writer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <heddle/detail/deadline.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>

namespace heddle {

/// Like std::shared_timed_mutex; it works with std::unique_lock and std::shared_lock. A waiting writer holds up readers
/// that come after it, and a writer that leaves lets in the readers that wait. So neither kind starves ("phase-fair":
/// Brandenburg, Anderson, ECRTS 2009). Writers among themselves are served in order of arrival. It is not recursive: a
/// reader that locks it again while a writer waits never returns. Thread context: any. A function that waits may
/// suspend and migrate a user-level thread; unlocking and the try_ forms without a time limit never do.
class shared_mutex {
 public:
  constexpr shared_mutex() noexcept = default;
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      wait_for_it(true, nullptr);
  }
  bool try_lock() noexcept {
    std::uint32_t free = 0;
    // acquire pairs with unlock and unlock_shared: what the last holders did
    return word_.compare_exchange_strong(free, writer, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    std::uint32_t alone = writer;
    // release pairs with try_lock, try_lock_shared: what the writer wrote
    if (!word_.compare_exchange_strong(alone, 0, std::memory_order_release, std::memory_order_relaxed)) [[unlikely]]
      unlock_slow();
  }

  void lock_shared() noexcept {
    if (!try_lock_shared()) [[unlikely]]
      wait_for_it(false, nullptr);
  }
  bool try_lock_shared() noexcept {
    std::uint32_t word = word_.load(std::memory_order_relaxed);  // relaxed: verified by the exchange
    while ((word & (writer | queued)) == 0) {
      // acquire pairs with unlock: what the last writer wrote
      if (word_.compare_exchange_weak(word, word + reader, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  void unlock_shared() noexcept {
    std::uint32_t word = word_.load(std::memory_order_relaxed);  // relaxed: verified by the exchange
    while ((word & queued) == 0 || word >= 2 * reader) {
      // release pairs with try_lock: the reader is done reading
      if (word_.compare_exchange_weak(word, word - reader, std::memory_order_release, std::memory_order_relaxed))
        return;
    }
    unlock_shared_slow();
  }

  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& duration) noexcept {
    return try_lock() || by(true, detail::deadline_in(duration));
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) noexcept {
    return try_lock() || detail::until(when, [this](detail::deadline d) { return by(true, d); });
  }
  template <class Rep, class Period>
  bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& duration) noexcept {
    return try_lock_shared() || by(false, detail::deadline_in(duration));
  }
  template <class Clock, class Duration>
  bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& when) noexcept {
    return try_lock_shared() || detail::until(when, [this](detail::deadline d) { return by(false, d); });
  }

 private:
  struct request;
  static constexpr std::uint32_t writer = 1;
  static constexpr std::uint32_t queued = 2;
  static constexpr std::uint32_t reader = 4;

  HEDDLE_API bool wait_for_it(bool exclusive, const detail::deadline* limit) noexcept;
  HEDDLE_API void unlock_slow() noexcept;
  HEDDLE_API void unlock_shared_slow() noexcept;
  bool by(bool exclusive, detail::deadline limit) noexcept { return wait_for_it(exclusive, &limit); }
  static bool enqueue(void* request, detail::waiter& w) noexcept;
  std::uint32_t choose_readers(detail::waiter_list& chosen) noexcept;
  std::uint32_t choose_writer(detail::waiter_list& chosen) noexcept;
  std::uint32_t queue_bit() const noexcept { return readers_.empty() && writers_.empty() ? 0 : queued; }
  void withdraw(bool exclusive, detail::waiter& w) noexcept;

  // The bit `writer` means that the lock is held exclusively. The bit `queued` means that a list is not empty; it is
  // changed under guard_. The rest counts readers. While `queued` is set, a thread comes in only if a leaving holder
  // (or a waiter that gives up) hands the lock to it. The word publishes what holders did.
  std::atomic<std::uint32_t> word_{0};
  detail::spin_word guard_;
  detail::waiter_list readers_;  // under guard_
  detail::waiter_list writers_;  // under guard_
};

}  // namespace heddle

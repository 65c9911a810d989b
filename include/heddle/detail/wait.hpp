// The mechanism of every wait. A waiter lies on the caller's stack; the caller is suspended after a commit and is
// resumed once, by the thread that claims the waiter. It works the same for user-level threads, whose worker goes on
// with other work, and for foreign kernel threads, which sleep.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <heddle/detail/linked_list.hpp>
#include <heddle/detail/spin_word.hpp>
#include <heddle/export.hpp>

namespace heddle::detail {

enum class wake_reason : std::uint32_t { none = 0, notified = 1, timed_out = 2, cancelled = 3 };

// One wait of one thread. It lives on the waiting thread's stack and is dead as soon as it has been resumed.
struct waiter {
  explicit waiter(const char* operation) noexcept : what(operation) {}
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  waiter* next{nullptr};  // link in the list of the object waited for, under that object's lock
  waiter* previous{nullptr};
  void* payload{nullptr};       // for the waiting operation (a channel's slot, a lock's mode)
  void* thread{nullptr};        // the suspended user-level thread; null for a foreign kernel thread
  const char* what;             // "mutex", "channel" ...: shown in dumps of threads
  const void* object{nullptr};  // the lock (of a mutex, its inheriting_lock) or null; for traces and dumps
  const void* place{nullptr};   // the code that asked for the wait, or null
  // Changes from none to a reason; one thread wins this change (claim). The winner alone resumes the waiter.
  std::atomic<std::uint32_t> reason{0};
  std::atomic<std::uint32_t> asleep{0};  // for foreign kernel threads: a futex word, 0 asleep, 1 resumed
};

// Suspends the calling thread, which may migrate. `commit(argument, w)` runs once the caller can be resumed (on another
// stack, if the caller is a user-level thread). It makes `w` known to its wakers, or drops the lock that kept it from
// them. After that it must neither block nor touch the caller's stack. If commit returns false, the caller goes on at
// once. Returns the reason given by the thread that claimed the waiter (`none` if commit returned false). Callable from
// user-level and foreign threads, but not from a signal handler. Protocol: src/wait/README.md.
HEDDLE_API wake_reason suspend(waiter& w, bool (*commit)(void* argument, waiter& w) noexcept, void* argument) noexcept;

// Does the same with a time limit. At `deadline` the runtime claims the waiter as timed_out and resumes it. The caller
// must then remove `w` from the list it was put on, under the lock of that list.
HEDDLE_API wake_reason suspend_until(waiter& w, bool (*commit)(void* argument, waiter& w) noexcept, void* argument,
                                     std::chrono::steady_clock::time_point deadline) noexcept;

// Claims the right to resume `w`. Returns true to exactly one caller. It is needed wherever a time limit or a
// cancellation may compete.
inline bool claim(waiter& w, wake_reason reason) noexcept {
  std::uint32_t expected = 0;
  return w.reason.compare_exchange_strong(expected, static_cast<std::uint32_t>(reason));
}

// Makes a claimed waiter's thread ready. `w` is gone afterwards. Callable from any thread, but not from a signal
// handler.
HEDDLE_API void resume(waiter& w) noexcept;

// Claims and resumes, where nothing is to be done between the two. Returns false if another thread has claimed the
// waiter.
inline bool wake(waiter& w, wake_reason reason = wake_reason::notified) noexcept {
  if (!claim(w, reason)) return false;
  resume(w);
  return true;
}

// Lets other ready threads run. On a foreign kernel thread it yields the processor.
HEDDLE_API void yield() noexcept;

// A first-in first-out list of waiters, under its owner's lock.
class waiter_list {
 public:
  bool empty() const noexcept { return list_.empty(); }
  waiter* front() const noexcept { return list_.front(); }
  void push_back(waiter& w) noexcept { list_.push_back(w); }
  waiter* pop_front() noexcept {
    waiter* w = list_.front();
    if (w != nullptr) remove(*w);
    return w;
  }
  // Takes `w` out. Does nothing if `w` is not in the list any more (its links are null and it is not the first).
  void remove(waiter& w) noexcept {
    if (w.previous == nullptr && list_.front() != &w) return;
    list_.remove(w);
    w.next = w.previous = nullptr;
  }

 private:
  linked_list<waiter> list_;
};

}  // namespace heddle::detail

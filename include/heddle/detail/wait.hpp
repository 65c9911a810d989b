// How anything waits: a waiter on the caller's stack, suspended after a commit, resumed once by whoever claims it.
// Works the same for user-level threads (the worker goes on with other work) and foreign kernel threads (which sleep).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <heddle/detail/linked_list.hpp>
#include <heddle/detail/spin_word.hpp>
#include <heddle/export.hpp>

namespace heddle::detail {

enum class wake_reason : std::uint32_t { none = 0, notified = 1, timed_out = 2, cancelled = 3 };

// One wait of one thread. Lives on the waiting thread's stack; dead as soon as it has been resumed.
struct waiter {
  explicit waiter(const char* operation) noexcept : what(operation) {}
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  waiter* next{nullptr};  // list of the object waited for, under that object's lock
  waiter* previous{nullptr};
  void* payload{nullptr};       // the waiting operation's own (a channel's slot, a lock's mode)
  void* thread{nullptr};        // suspended user-level thread; null for a foreign kernel thread
  const char* what;             // "mutex", "channel" ...: shown when threads are dumped
  const void* object{nullptr};  // the lock (of a mutex, its lendable), or null: for traces and dumps
  const void* place{nullptr};   // the code that asked for it, or null
  // none -> reason, by one winner (claim). The winner, and nobody else, resumes.
  std::atomic<std::uint32_t> reason{0};
  std::atomic<std::uint32_t> asleep{0};  // foreign kernel threads: futex word, 0 asleep, 1 resumed
};

// Suspends the calling thread; it may migrate. `commit(argument, w)` runs once the caller can be resumed (on another
// stack, if the caller is a user-level thread); it makes `w` known to its wakers (or drops the lock that kept it from
// them), and must neither block nor touch the caller's stack after that. If commit returns false, the caller goes on at
// once. Returns the reason of whoever claimed the waiter (`none` when commit returned false). Callable from user-level
// and foreign threads; not from a signal handler. Protocol: src/wait/README.md.
HEDDLE_API wake_reason suspend(waiter& w, bool (*commit)(void* argument, waiter& w) noexcept, void* argument) noexcept;

// The same with a time limit: at `deadline` the runtime claims the waiter as timed_out and resumes it. The caller must
// then remove `w` from the list it was put on (under the lock of that list).
HEDDLE_API wake_reason suspend_until(waiter& w, bool (*commit)(void* argument, waiter& w) noexcept, void* argument,
                                     std::chrono::steady_clock::time_point deadline) noexcept;

// Claims the right to resume `w`: true for exactly one caller. Needed wherever a time limit or a cancellation may
// compete.
inline bool claim(waiter& w, wake_reason reason) noexcept {
  std::uint32_t expected = 0;
  return w.reason.compare_exchange_strong(expected, static_cast<std::uint32_t>(reason));
}

// Makes a claimed waiter's thread ready; `w` is gone afterwards. Callable from any thread, not from a signal handler.
HEDDLE_API void resume(waiter& w) noexcept;

// claim and resume in one, for where nothing is to be done between the two. False: somebody else has claimed it.
inline bool wake(waiter& w, wake_reason reason = wake_reason::notified) noexcept {
  if (!claim(w, reason)) return false;
  resume(w);
  return true;
}

// Lets other ready threads run. From a foreign kernel thread: yields the processor.
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
  // Takes `w` out; harmless when it is not in the list any more (its links are null and it is not the first).
  void remove(waiter& w) noexcept {
    if (w.previous == nullptr && list_.front() != &w) return;
    list_.remove(w);
    w.next = w.previous = nullptr;
  }

 private:
  linked_list<waiter> list_;
};

}  // namespace heddle::detail

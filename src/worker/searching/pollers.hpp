// The pollers of a runtime, and the kernel threads that ask them: pollers.md. Owns their list, and a kernel thread that
// asks when no worker has done so for a poller's bound. Promise: a wanted poller is asked at least that often, by one
// caller at a time. A poller that has left is not asked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <heddle/detail/linked_list.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/poller.hpp>

#include "platform/platform.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

class pollers;

// The state of a heddle::poller, on the heap. It outlives a poller that is destroyed by its own function.
struct poller_state {
  pollers& of;
  const std::unique_ptr<detail::polling_function> function;
  const platform::nanoseconds bound, gap;
  std::atomic<std::uint64_t> wants{0};  // want() less unwant()
  // the end of the last ask, or the first want() after it
  std::atomic<platform::nanoseconds> asked_at{0};
  std::atomic<std::uint64_t> asks{0}, found{0};  // statistics; written by the asker
  std::atomic<const void*> runner{nullptr};      // a thread, or `of` for the kernel thread; null before it begins
  // under the guard of `of`
  poller_state* next{nullptr};
  poller_state* previous{nullptr};
  bool under_way{false};           // an ask has begun, or is about to
  bool gone{false};                // destroyed by its own function: the asker frees it
  detail::waiter* ender{nullptr};  // the destructor, which waits for the end of an ask
};

class pollers {
 public:
  pollers(runtime& home, unsigned workers) : home_(home), searches_(workers) {}

  // --- for <heddle/poller.hpp>; with preemption off, but for start ---

  // Whether the kernel thread is there, which it must be before the first poller enters.
  bool is_there() const noexcept { return kernel_state_.load() == there; }
  // Makes the kernel thread. May be called more than once, also at the same time, by a kernel thread without a worker.
  // Throws std::system_error.
  void start();
  void enter(poller_state& p) noexcept;
  // Returns true if `p` belongs to the caller from now on. Returns false if its own function is the caller.
  [[nodiscard]] bool leave(poller_state& p) noexcept;
  void want(poller_state& p) noexcept;
  void unwant(poller_state& p) noexcept;

  // --- for workers ---

  // Whether some poller is wanted. relaxed: a hint, because the kernel thread keeps the bound
  bool are_wanted() const noexcept { return wanted_.load(std::memory_order_relaxed) != 0; }
  // Returns a new thread that asks a poller, for the calling worker to run now, or 0 if none is to be asked.
  [[nodiscard]] entry ask(worker& w) noexcept;
  // The same at a fair choice: every other time at most, because there are others to be fair to.
  [[nodiscard]] entry ask_fairly(worker& w) noexcept;
  // An ask interrupts a search. The times when the search began and insisted last are kept. They are those of the
  // worker's next search unless it has run anything else in between.
  void interrupt_search(const worker& w, std::uint64_t began, std::uint64_t insisted) noexcept;
  void go_on_searching(const worker& w, std::uint64_t& began, std::uint64_t& insisted) const noexcept;

  // By the runtime's destructor.
  void end() noexcept;

 private:
  struct search {  // a worker's
    std::uint64_t began{0}, insisted{0};
    std::uint64_t goes_on_at{0};  // the worker's count of picks, if nothing else is picked
    bool asked_fairly{false};
  };
  enum kernel_state : int { none, being_made, there };

  static void run(thread* self) noexcept;
  void keep_bounds() noexcept;
  // Returns the poller that the kernel thread must ask now, under way. If there is none, returns null and sets
  // `look_at` to the time of the next look, or to 0 to wait for a call.
  poller_state* overdue(platform::nanoseconds& look_at) noexcept;
  void wake() noexcept;

  bool tasks_may_wait_for_locks() const noexcept;
  void begin_ask(poller_state& p) noexcept;  // under guard_
  // Calls the function, which `runner` runs, and ends the ask. In user code.
  void carry_out(poller_state& p, const void* runner);
  bool end_ask(poller_state& p, bool asked) noexcept;  // true: the poller is gone, and the caller's
  const void* running_here() const noexcept;

  runtime& home_;
  detail::spin_word guard_;
  detail::linked_list<poller_state> all_;  // under guard_; the one that was asked last is last
  std::atomic<int> wanted_{0};             // pollers with wants
  std::atomic<int> under_way_{0};          // asks, until nothing of theirs is touched any more
  std::vector<search> searches_;           // by rank; each is its worker's

  platform::kernel_thread kernel_;  // by the kernel thread that has made it
  std::atomic<kernel_state> kernel_state_{none};
  std::atomic<int> kernel_id_{0};        // written by the kernel thread
  std::atomic<std::uint32_t> calls_{0};  // its futex word: raised after what it has to look at
  // The time when it looks again by itself, or 0 if it is about to look. Written by it.
  std::atomic<platform::nanoseconds> looks_at_{0};
  bool lingers_{false};  // the kernel thread's: its last look found no poller wanted
  std::atomic<bool> ends_{false};
};

}  // namespace heddle::worker

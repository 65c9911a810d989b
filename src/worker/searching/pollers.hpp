// The pollers of a runtime, and who asks them: pollers.md. Owns their list, and the kernel thread that asks when no
// worker has done so for a poller's bound. Promise: a wanted poller is asked at least that often, by one caller at a
// time; one that has left is asked by nobody.
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

// What a heddle::poller is, on the heap: it outlives one that is destroyed by its own function.
struct poller_state {
  pollers& of;
  const std::unique_ptr<detail::polling_function> function;
  const platform::nanoseconds bound, gap;
  std::atomic<std::uint64_t> wants{0};  // want() less unwant()
  // the end of the last ask, or the first want() after it
  std::atomic<platform::nanoseconds> asked_at{0};
  std::atomic<std::uint64_t> asks{0}, found{0};  // statistics; written by who asks
  std::atomic<const void*> runner{nullptr};      // a thread, or `of` for the kernel thread; null: it has not begun
  // under the guard of `of`
  poller_state* next{nullptr};
  poller_state* previous{nullptr};
  bool under_way{false};           // somebody asks, or is about to
  bool gone{false};                // destroyed by its own function: who asks frees it
  detail::waiter* ender{nullptr};  // the destructor, which waits for the end of an ask
};

class pollers {
 public:
  pollers(runtime& home, unsigned workers) : home_(home), searches_(workers) {}

  // --- for <heddle/poller.hpp>; with preemption off, but for start ---

  // The kernel thread is there, as it has to be before the first poller enters.
  bool is_there() const noexcept { return kernel_state_.load() == there; }
  // Makes it. Once or more, at a time too; by a kernel thread without a worker. Throws std::system_error.
  void start();
  void enter(poller_state& p) noexcept;
  // True: it was the last that anybody does with `p`, which is the caller's. False: its own function is the caller.
  [[nodiscard]] bool leave(poller_state& p) noexcept;
  void want(poller_state& p) noexcept;
  void unwant(poller_state& p) noexcept;

  // --- for workers ---

  // Some poller is wanted. relaxed: a hint, the bound is the kernel thread's
  bool are_wanted() const noexcept { return wanted_.load(std::memory_order_relaxed) != 0; }
  // A new thread that asks a poller, which the calling worker shall run now; 0: none is to be asked.
  [[nodiscard]] entry ask(worker& w) noexcept;
  // The same at a fairness pick: every other time at most, for there are others to be fair to.
  [[nodiscard]] entry ask_fairly(worker& w) noexcept;
  // An ask interrupts a search: `began`, and when it insisted last, are kept, and are those of the worker's next search
  // unless it has run anything else in between.
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
  // The poller that the kernel thread has to ask now, under way; else null and when to look again, 0: when called.
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
  detail::linked_list<poller_state> all_;  // under guard_; who was asked last is last
  std::atomic<int> wanted_{0};             // pollers with wants
  std::atomic<int> under_way_{0};          // asks, until nobody touches what is theirs
  std::vector<search> searches_;           // by rank; each is its worker's

  platform::kernel_thread kernel_;  // by who has made it
  std::atomic<kernel_state> kernel_state_{none};
  std::atomic<int> kernel_id_{0};        // written by the kernel thread
  std::atomic<std::uint32_t> calls_{0};  // its futex word: raised after what it has to look at
  // When it looks again by itself: 0, it is about to look. Written by it.
  std::atomic<platform::nanoseconds> looks_at_{0};
  bool lingers_{false};  // the kernel thread's: its last look found no poller wanted
  std::atomic<bool> ends_{false};
};

}  // namespace heddle::worker

// Where an OpenMP thread sleeps. One a thread, whatever it waits for: a barrier's end, a task to run, a child's end,
// its next region. So whoever changes something that it may wait for wakes the thread, and the thread looks again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "omp/core/teams/co_location.hpp"
#include "omp/seam.hpp"

namespace heddle::omp {

// Who wants a processor: OpenMP threads that do not sleep here, and how many of them can run at once.
struct active_count {
  // Written by who falls asleep, who wakes somebody, who makes or ends a thread. A hint to those that spin.
  static inline constinit std::atomic<int> awake{0};
  static inline constinit std::atomic<int> processors{0};  // 0: nobody knows yet
  static bool exceeds() noexcept {
    return awake.load(std::memory_order_relaxed) > processors.load(std::memory_order_relaxed);  // hints
  }
};

class parker {
 public:
  // Returns when ready() is true, which is asked before each sleep, and after each wake(). First it spins, looking
  // again and again, for as long as nothing else wants the processor and the wait policy allows (OMP_WAIT_POLICY,
  // KMP_BLOCKTIME, GOMP_SPINCOUNT); then it sleeps: a user-level thread is suspended and its worker goes on with
  // others, a foreign kernel thread sleeps in the kernel. It never migrates but by being suspended.
  //
  // Nothing is lost: who makes ready() true writes what it reads, then calls wake(), which has a fence between its
  // caller's write and its own look at whether anybody sleeps ([parker:2]).
  template <class Ready>
  void wait(Ready ready) {
    wait(ready, [] {});
  }
  // before() is called ahead of each sleep, and ready() asked once more after it.
  template <class Ready, class Before>
  void wait(Ready ready, Before before) {
    if (ready()) return;
    if (where_.is_asked()) [[unlikely]]
      is_co_located_ = where_.look();
    if (!active_count::exceeds() && !is_co_located_) {
      for (int look = 0; look < first_looks; ++look) {
        heddle_pause();
        if (ready()) return;
      }
    }
    wait_long([](void* asked) { return static_cast<bool>((*static_cast<Ready*>(asked))()); }, &ready,
              [](void* told) { (*static_cast<Before*>(told))(); }, &before);
  }

  // Any thread. Costs a fence and a load when the thread does not sleep.
  void wake() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    wake_after_fence();
  }
  // The same where the caller has executed a sequentially consistent fence since its write.
  void wake_after_fence() noexcept {
    if (word_.load(std::memory_order_relaxed) != is_awake) wake_sleeper();  // [parker:2]
  }
  // The same in two steps. The first: the owner's wait, if it sleeps, which the caller alone can end from then on.
  heddle::detail::waiter* take_sleeper() noexcept {
    return word_.load(std::memory_order_relaxed) != is_awake ? exchange_sleeper() : nullptr;  // [parker:2]
  }
  static void wake(heddle::detail::waiter& sleeper) noexcept;
  // The owner, a kernel thread, is bound to a processor that is a worker's, too: while the active count exceeds the
  // processors, it does not look for long, since the worker may be the one that it waits for.
  void share_processor(bool yes) noexcept { shares_processor_ = yes; }
  // The owner has ended, or is the caller.
  void leave_processor() noexcept { where_.leave(); }
  // A hint.
  bool sleeps() const noexcept { return word_.load(std::memory_order_relaxed) != is_awake; }

 private:
  static constexpr int first_looks = 200;
  static constexpr std::uintptr_t is_awake = 0;
  static constexpr std::uintptr_t settling = 1;  // about to sleep; every greater value is the sleeper's waiter

  bool spin(bool (*ready)(void*), void* asked);
  bool end_co_location(std::chrono::steady_clock::time_point now) noexcept;
  void wait_long(bool (*ready)(void*), void* asked, void (*before)(void*), void* told);
  void sleep() noexcept;
  heddle::detail::waiter* exchange_sleeper() noexcept;
  void wake_sleeper() noexcept;
  static bool fall_asleep(void* self, heddle::detail::waiter& w) noexcept;

  // Written by the owner to settle and by whoever wakes it; publishes the waiter.
  std::atomic<std::uintptr_t> word_{is_awake};
  bool shares_processor_{false};  // the owner's, as what follows
  bool is_co_located_{false};     // another thread was seen where it is: [parker:3]
  std::uint8_t co_located_waits_{0};
  std::chrono::milliseconds between_goings_{10};  // after it has gone elsewhere: four times as long each time
  std::chrono::steady_clock::time_point may_go_again_{};
  co_location where_;
};

}  // namespace heddle::omp

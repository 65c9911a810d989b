// The object on which an OpenMP thread sleeps. A thread has one, whatever it waits for: a barrier's end, a task to run,
// a child's end, its next region. So any thread that changes something for which it may wait wakes it, and it looks
// again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "omp/core/teams/co_location.hpp"
#include "omp/seam.hpp"

namespace heddle::omp {

// The active count: the number of OpenMP threads that do not sleep here, and the number that can run at once.
struct active_count {
  // Written by threads that fall asleep, that wake another one, and that make or end a thread. A hint for spinning
  // threads.
  static inline constinit std::atomic<int> awake{0};
  static inline constinit std::atomic<int> processors{0};  // 0 if not known yet
  static bool exceeds() noexcept {
    return awake.load(std::memory_order_relaxed) > processors.load(std::memory_order_relaxed);  // hints
  }
};

class parker {
 public:
  // Returns when ready() is true. ready() is called before each sleep, and after each wake(). At first the thread
  // spins, looking again and again, for as long as nothing else wants the processor and the wait policy allows
  // (OMP_WAIT_POLICY, KMP_BLOCKTIME, GOMP_SPINCOUNT). Then it sleeps: a user-level thread is suspended and its worker
  // goes on with others; a foreign kernel thread sleeps in the kernel. The thread migrates only by being suspended.
  //
  // No wake-up is lost: a thread that makes ready() true writes what ready() reads, then calls wake(). wake() has a
  // fence between its caller's write and its own look whether the thread sleeps ([parker:2]).
  template <class Ready>
  void wait(Ready ready) {
    wait(ready, [] {});
  }
  // before() is called ahead of each sleep, and ready() is called once more after it.
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

  // May be called by any thread. Costs a fence and a load if the thread does not sleep.
  void wake() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    wake_after_fence();
  }
  // The same if the caller has executed a sequentially consistent fence since its write.
  void wake_after_fence() noexcept {
    if (word_.load(std::memory_order_relaxed) != is_awake) wake_sleeper();  // [parker:2]
  }
  // The same in two steps. The first returns the owner's wait, if the owner sleeps; from then on only the caller can
  // end that wait.
  heddle::detail::waiter* take_sleeper() noexcept {
    return word_.load(std::memory_order_relaxed) != is_awake ? exchange_sleeper() : nullptr;  // [parker:2]
  }
  static void wake(heddle::detail::waiter& sleeper) noexcept;
  // Says that the owner, a kernel thread, is bound to a processor that is a worker's, too. While the active count
  // exceeds the processors, it then does not look for long, because the worker may be the thread for which it waits.
  void share_processor(bool yes) noexcept { shares_processor_ = yes; }
  // The owner must have ended, or be the caller.
  void leave_processor() noexcept { where_.leave(); }
  // The answer is a hint.
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

  // Written by the owner to settle and by the thread that wakes it; publishes the waiter.
  std::atomic<std::uintptr_t> word_{is_awake};
  bool shares_processor_{false};  // the owner's, as the following fields
  bool is_co_located_{false};     // another thread was seen on its processor: [parker:3]
  std::uint8_t co_located_waits_{0};
  // The interval after it has gone elsewhere; four times as long each time.
  std::chrono::milliseconds between_goings_{10};
  std::chrono::steady_clock::time_point may_go_again_{};
  co_location where_;
};

}  // namespace heddle::omp

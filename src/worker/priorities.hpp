// Ready threads whose level is not the normal one. Invariants and argument: README.md, "Priorities".
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <heddle/detail/wait.hpp>
#include <heddle/priority.hpp>

#include "fiber/thread.hpp"

namespace heddle::worker {

inline constexpr int lowest_level = static_cast<int>(priority::lowest);
inline constexpr int highest_level = static_cast<int>(priority::highest);

// Above normal: one queue a level, first in first out, of the runtime. Below: one pile a level and worker, last in first out. Every
// function may be called by any kernel thread with preemption off, also in a signal handler: the locks are held in the runtime only.
class priorities {
 public:
  explicit priorities(unsigned workers) : workers_(workers), piles_(new pile[workers]) {}

  // What was pushed is seen by any() of a worker that has announced its sleep and passed its heavy fence, or the caller sees it asleep.
  void push(fiber::thread& t, unsigned rank, bool behind) noexcept {
    if (t.level > 0) push_high(t);
    else push_low(t, rank, behind);
  }
  // The oldest of the highest level that is not below `least`, 1 or more; null: none.
  [[nodiscard]] fiber::thread* take_high(int least) noexcept;
  // The newest of the worker's own, else the oldest of another's, of the highest level from normal (exclusive) down to `least`; null: none.
  [[nodiscard]] fiber::thread* take_low(unsigned rank, int least) noexcept;

  // Hints, or exact after a heavy fence.
  bool any_high(int least) const noexcept { return high_.load(std::memory_order_relaxed) >> (least - 1) != 0; }
  bool any_low(int least) const noexcept;
  bool any() const noexcept { return any_high(1) || any_low(lowest_level); }

 private:
  struct high_queue {
    fiber::thread* first{nullptr};
    fiber::thread* last{nullptr};
  };
  // `next` of a thread in a pile leads to an older one, `newer` back.
  struct alignas(64) pile {
    detail::spin_word lock;
    unsigned taken{0};                              // by the owner; under lock
    struct ends {
      std::atomic<fiber::thread*> newest{nullptr};  // written under lock; read by anyone as a hint
      fiber::thread* oldest{nullptr};               // under lock
    } levels[-lowest_level];
  };

  void push_high(fiber::thread& t) noexcept;
  void push_low(fiber::thread& t, unsigned rank, bool behind) noexcept;
  [[nodiscard]] fiber::thread* take_from(pile& from, int index, bool own) noexcept;

  const unsigned workers_;
  alignas(64) std::atomic<std::uint32_t> high_{0};  // bit l - 1: level l is not empty; written under high_lock_
  detail::spin_word high_lock_;
  high_queue queues_[highest_level];                // under high_lock_
  std::atomic<int> low_[-lowest_level]{};           // ready threads of level -1 - index, over all piles; written under the pile's lock
  const std::unique_ptr<pile[]> piles_;             // by rank
};

}  // namespace heddle::worker

// Ready threads whose level is not the normal one. Invariants and argument: priorities.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include <heddle/detail/linked_list.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/priority.hpp>

#include "fiber/thread.hpp"

namespace heddle::worker {

inline constexpr int lowest_level = static_cast<int>(priority::lowest);
inline constexpr int highest_level = static_cast<int>(priority::highest);

// The place at which a thread joins its list.
enum class position : std::uint8_t {
  on_top,  // it was woken, is new, or made way for a higher one: below normal it is the next to go on
  behind,  // its time slice ended for an equal one
  back,    // it was taken and did not run: it stands as before, with the time that it has waited
};

// Above normal there is one queue per level, of the runtime, first in first out. Below normal there is one pile per
// level and worker, last in first out. Every function may be called by any kernel thread with preemption off, also in a
// signal handler, because the locks are held in the runtime only. `level` of a thread may be raised meanwhile
// (inheritance.cpp): it is read under the lock of the list that the thread joins.
class priorities {
 public:
  explicit priorities(unsigned workers) : workers_(workers), piles_(new pile[workers]) {}

  // Returns false if the thread's level is the normal one by then: the thread belongs elsewhere. A thread that was
  // pushed is seen by any() of a worker that has announced its sleep and passed its heavy fence, or the caller sees
  // that worker asleep.
  [[nodiscard]] bool push(fiber::thread& t, unsigned rank, position where) noexcept;
  // Takes the oldest thread of the highest level that is not below `least`, 1 or more; null if there is none.
  [[nodiscard]] fiber::thread* take_high(int least) noexcept;
  // Takes the newest of the worker's own threads, else the oldest of another's, of the highest level from normal
  // (exclusive) down to `least`; null if there is none. `even` means in place of an equal thread whose time slice ends;
  // then it takes from a worker that has more of them.
  [[nodiscard]] fiber::thread* take_low(unsigned rank, int least, bool even = false) noexcept;
  // Takes the thread that has been ready for longest of all, if that is since before `limit` (platform::cycles).
  // Returns null if none has.
  [[nodiscard]] fiber::thread* take_starved(std::uint64_t limit) noexcept;
  // Takes that thread out. Returns false if it is in no list here.
  [[nodiscard]] bool remove(fiber::thread& t) noexcept;

  // Hints, or exact after a heavy fence.
  bool any_high(int least) const noexcept { return high_.load(std::memory_order_relaxed) >> (least - 1) != 0; }
  bool any_low(int least) const noexcept;
  bool any() const noexcept { return any_high(1) || any_low(lowest_level); }

 private:
  static constexpr int low_levels = -lowest_level;
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  // The value of thread::listed.in: 0, or the level above normal, or minus one minus rank * low_levels + index.
  int low_list(unsigned rank, int index) const noexcept { return -1 - static_cast<int>(rank) * low_levels - index; }

  using high_queue = detail::linked_list<fiber::thread, &fiber::thread::next, fiber::newer_of>;  // oldest first
  // `next` of a thread in a pile leads to an older one of its level, `newer` back.
  struct alignas(64) pile {
    detail::spin_word lock;
    unsigned taken{0};  // by the owner; under lock
    // All threads of the pile, in the order in which they became ready; under lock.
    detail::linked_list<fiber::thread, fiber::shorter_of, fiber::longer_of> by_age;
    // When the first one of by_age became ready; written under lock, read by any thread as a hint.
    std::atomic<std::uint64_t> oldest_since{never};
    struct ends {
      std::atomic<fiber::thread*> newest{nullptr};  // written under lock; read by any thread as a hint
      fiber::thread* oldest{nullptr};               // under lock
      std::atomic<unsigned> count{0};               // written and read as newest is
    } levels[low_levels];
  };

  void link_high(fiber::thread& t, int level, position where) noexcept;
  void unlink_high(fiber::thread& t) noexcept;
  void link_low(fiber::thread& t, unsigned rank, int index, position where) noexcept;
  void unlink_low(pile& from, fiber::thread& t) noexcept;
  [[nodiscard]] fiber::thread* take_from(unsigned rank, int index, bool own) noexcept;

  const unsigned workers_;
  alignas(64) std::atomic<std::uint32_t> high_{0};  // bit l - 1: level l is not empty; written under high_lock_
  detail::spin_word high_lock_;
  high_queue queues_[highest_level];  // under high_lock_
  // Ready threads of level -1 - index, over all piles; written under the pile's lock.
  std::atomic<int> low_[low_levels]{};
  const std::unique_ptr<pile[]> piles_;  // by rank
};

}  // namespace heddle::worker

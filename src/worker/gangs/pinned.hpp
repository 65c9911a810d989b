// The ready threads that are pinned to one worker ([pin:1] to [pin:6] of pinned.md): first in first out at each level,
// and before all levels the threads of gangs (gangs.md). Owns them while they stand here. Any code adds, with
// preemption off, also in a signal handler. Only the worker takes, except that others may remove threads of gangs.
// Promise: a thread that was added is seen by a worker that has announced its sleep and passed its heavy fence, or the
// adding thread sees that announcement.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include <heddle/detail/linked_list.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/priority.hpp>

#include "fiber/thread.hpp"

namespace heddle::worker {

class pinned_threads {
 public:
  static constexpr int none = static_cast<int>(priority::lowest) - 1;    // below every level
  static constexpr int gangs = static_cast<int>(priority::highest) + 1;  // above every level: a thread of a gang

  // `in_front` means that the thread was taken and did not run. A full fence: the caller looks whether the worker
  // sleeps after it.
  void push(fiber::thread& t, bool in_front) noexcept;
  // Called by the worker. Takes the oldest thread of the highest level from `least` to `most`; null if there is none.
  [[nodiscard]] fiber::thread* take(int least, int most = gangs) noexcept;
  // Called by the worker. Of the threads beside the normal level it takes the one that has been ready for longest, if
  // that is since before `limit` (platform::cycles). Returns null if there is none.
  [[nodiscard]] fiber::thread* take_starved(std::uint64_t limit) noexcept;
  // Called by the worker after levels were raised: each thread goes to where its level is at that moment.
  void sort() noexcept;
  // Called by any code. Takes out that thread of a gang. Returns false if it is not here.
  [[nodiscard]] bool remove(fiber::thread& t) noexcept;
  // Returns true if that thread is here. No other thread takes it into another list meanwhile.
  [[nodiscard]] bool has(const fiber::thread& t) noexcept;

  // The highest level of the threads that are here, up to `most`. A hint to others; to the worker it is exact after a
  // heavy fence.
  int highest(int most = gangs) const noexcept {
    const std::uint32_t up_to_most = (std::uint32_t{2} << (most - none - 1)) - 1;
    // relaxed: as said above
    return none + static_cast<int>(std::bit_width(levels_.load(std::memory_order_relaxed) & up_to_most));
  }
  bool has_gangs() const noexcept { return highest() == gangs; }                        // as highest
  bool empty() const noexcept { return levels_.load(std::memory_order_relaxed) == 0; }  // as highest

 private:
  static constexpr unsigned count = static_cast<unsigned>(priority::highest) - static_cast<unsigned>(none);  // levels
  using queue = detail::linked_list<fiber::thread, &fiber::thread::next, fiber::newer_of>;  // oldest first
  void link(fiber::thread& t, bool in_front) noexcept;
  void unlink(fiber::thread& t, unsigned index) noexcept;

  std::atomic<std::uint32_t> levels_{0};  // bit l - none - 1: level l is not empty; written under lock_
  detail::spin_word lock_;
  queue queues_[count + 1];  // under lock_; the lowest level first, the gangs last
};

}  // namespace heddle::worker

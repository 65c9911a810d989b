// Data on tasks that is kept beside their control blocks where a policy wants it: what they have used so far, and when
// their forks began. Every worker has some slots at hand; a store of the runtime evens out between workers that take
// and workers that give. The memory is the platform's, because malloc must not be called at a switch. Promise: there is
// as much memory as was in use at once, rounded up, and it goes with the runtime.
#pragma once

#include <cstddef>
#include <cstdint>

#include <heddle/detail/fork_queue.hpp>
#include <heddle/task_usage.hpp>

#include "platform/platform.hpp"
#include "sync/mutex.hpp"

namespace heddle::worker {

// The account of a thread, while the thread lives and is counted. Its owner's.
struct account {
  std::uint64_t sum[platform::usage_reading::count]{};
  policy::source from[platform::usage_reading::count]{};
  bool counted{false};     // some part of the thread's use is in the sums
  std::uint64_t began{0};  // platform::cycles
};

// The time of a fork whose second half is a task, from `fork` to `fork_end`. Its owner's; a thread's forks nest.
struct fork_time {
  std::uint64_t began{0};  // platform::cycles
  const detail::job* of{nullptr};
  fork_time* outer{nullptr};
};

struct alignas(64) account_slot {
  account_slot* next{nullptr};  // the next free slot
  union {
    account kept;
    fork_time fork;
  };
  account_slot() noexcept : kept() {}
};

// The store of the runtime. Any worker may call.
class account_store {
 public:
  static constexpr unsigned batch = 64;

  account_store() noexcept = default;
  ~account_store();
  account_store(const account_store&) = delete;
  account_store& operator=(const account_store&) = delete;

  // Takes a chain of free slots, at most `batch` of them; null if there is no memory.
  [[nodiscard]] account_slot* take() noexcept;
  void give(account_slot* chain) noexcept;

 private:
  static constexpr std::size_t slab_bytes = std::size_t{64} << 10;
  static constexpr std::size_t in_slab = slab_bytes / sizeof(account_slot) - 1;  // the first one links the slabs
  sync::mutex mutex_;
  account_slot* free_{nullptr};   // under the mutex, as all that follows
  account_slot* slabs_{nullptr};  // the newest one's first
  std::size_t fresh_{0};          // slots of the newest slab that were never taken
};

// The slots at hand of one worker, which alone touches them.
class accounts_at_hand {
 public:
  explicit accounts_at_hand(account_store& store) noexcept : store_(store) {}
  [[nodiscard]] account_slot* take() noexcept;  // null if there is no memory
  void give(account_slot& slot) noexcept;

 private:
  account_store& store_;
  account_slot* free_{nullptr};
  unsigned count_{0};
};

}  // namespace heddle::worker

// Members that wait until something happens at an address: [waits:1] to [waits:4] of README.md.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <heddle/mutex.hpp>
#include <heddle/semaphore.hpp>

namespace heddle::omp::waits {

class address_waits {
 public:
  // The wait of a member, on its stack.
  class one;

  // May be called by any thread at any time; never waits ([waits:3]). Costs a load if no member waits anywhere.
  void call_one(const void* address) noexcept {
    if (waiting_.load(std::memory_order_relaxed) != 0) [[unlikely]]  // [waits:2]
      call(address, false);
  }
  void call_all(const void* address) noexcept {
    if (waiting_.load(std::memory_order_relaxed) != 0) [[unlikely]]  // [waits:2]
      call(address, true);
  }
  // Called in a child of fork(), where no member waits.
  void forget() noexcept;

 private:
  struct alignas(64) row {
    heddle::mutex lock;  // parks, because a member that holds it may be preempted
    one* first{nullptr};
    one* last{nullptr};
    std::atomic<int> size{0};  // changed under the lock; relaxed: [waits:2]
    // Set when a thread has called while the lock was held ([waits:3]).
    std::atomic<bool> missed{false};
  };
  static constexpr unsigned rows = 64;

  row& row_of(const void* address) noexcept {
    const auto a = reinterpret_cast<std::uintptr_t>(address);
    return rows_[(a >> 3 ^ a >> 9) % rows];
  }
  void call(const void* address, bool everybody) noexcept;
  static void call_in(row& r, const void* address, bool everybody) noexcept;
  static void take_out(row& r, one& waiter) noexcept;
  static void unlock(row& r) noexcept;

  std::atomic<int> waiting_{0};  // in all rows; [waits:2]
  row rows_[rows];
};

class address_waits::one {
 public:
  // Begins to wait. A member that has waited before is called first.
  one(address_waits& in, const void* address, bool has_waited) noexcept;
  ~one();
  one(const one&) = delete;
  one& operator=(const one&) = delete;

  // Returns true if it was called; false if the time has come first, and then it may go on waiting.
  bool sleep_until(std::chrono::steady_clock::time_point limit) noexcept;
  // Ends the wait. Returns false if it had been called.
  bool leave() noexcept;

 private:
  friend class address_waits;

  address_waits& in_;
  const void* address_;
  one* next_{nullptr};
  one* previous_{nullptr};
  bool is_in_{true};  // under the row's lock
  heddle::semaphore called_{0};
};

// For mutexes that are unlocked, and for conditions that are signalled. They lie in memory that no destructor touches,
// because programs use both to their very end.
extern address_waits& at_mutexes;
extern address_waits& at_conditions;

}  // namespace heddle::omp::waits

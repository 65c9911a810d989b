// On which processors OpenMP threads were last seen: a hint for who waits whether the one that it waits for could have
// the waiter's own processor, because another program has the rest. [parker:3] in omp/README.md.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::omp {

// Of one thread, which alone uses it; it names no other thread.
class co_location {
 public:
  // The caller looks where it is. True: another OpenMP thread that does not sleep was seen there, too.
  bool look() noexcept;
  // It is about to sleep, or has ended.
  void leave() noexcept;
  // Somebody wants to know where all are, and the thread has not looked since.
  bool is_asked() const noexcept { return answered_ != asked.load(std::memory_order_relaxed); }  // a hint
  static void ask() noexcept { asked.fetch_add(1, std::memory_order_relaxed); }
  // In a child of fork(): nobody has been seen.
  static void forget_all() noexcept;

 private:
  static inline constinit std::atomic<std::uint32_t> asked{0};

  int processor_{-1};          // where it was counted; -1: nowhere
  std::uint32_t process_{0};   // the process in which it was counted: forks
  std::uint32_t answered_{0};  // of `asked`
};

}  // namespace heddle::omp

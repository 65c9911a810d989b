// The processors on which OpenMP threads were last seen. It is a hint for a waiting thread: the thread for which it
// waits may need the waiter's own processor, because another program has the other processors. [parker:3] in
// omp/README.md.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::omp {

// The state of one thread, which alone uses it. It names no other thread.
class co_location {
 public:
  // Notes where the caller runs. Returns true if another OpenMP thread that does not sleep was seen there, too.
  bool look() noexcept;
  // Called when the thread is about to sleep, or has ended.
  void leave() noexcept;
  // Whether some thread wants to know where all are, and this thread has not looked since.
  bool is_asked() const noexcept { return answered_ != asked.load(std::memory_order_relaxed); }  // a hint
  static void ask() noexcept { asked.fetch_add(1, std::memory_order_relaxed); }
  // Called in a child of fork(), where no thread has been seen.
  static void forget_all() noexcept;

 private:
  static inline constinit std::atomic<std::uint32_t> asked{0};

  int processor_{-1};          // the processor on which it was counted; -1 if on none
  std::uint32_t process_{0};   // the process in which it was counted, by the value of `forks`
  std::uint32_t answered_{0};  // the value of `asked` that it has answered
};

}  // namespace heddle::omp

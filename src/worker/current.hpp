// Writes the thread-local pointer to the current queue (heddle/detail/current.hpp) in code that may change kernel
// threads. It is assembly because a compiler that knew the variable could keep its address over a switch.
#pragma once

#include <heddle/detail/current.hpp>

namespace heddle::worker {

[[gnu::always_inline]] inline void set_current_queue(detail::fork_queue* queue) noexcept {
#if defined(__x86_64__)
  detail::fork_queue* offset;
  asm volatile("movq heddle_current_queue@gottpoff(%%rip), %0\n\tmovq %1, %%fs:(%0)"
               : "=&r"(offset)
               : "r"(queue)
               : "memory");
#elif defined(__aarch64__)
  void* offset;
  void* pointer;
  asm volatile(
      "mrs %0, tpidr_el0\n\tadrp %1, :gottprel:heddle_current_queue\n\t"
      "ldr %1, [%1, #:gottprel_lo12:heddle_current_queue]\n\tstr %2, [%0, %1]"
      : "=&r"(pointer), "=&r"(offset)
      : "r"(queue)
      : "memory");
#endif
}

}  // namespace heddle::worker

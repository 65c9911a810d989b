// The current worker's fork queue, read in such a way that no compiler can keep its address across a switch.
#pragma once

#include <heddle/export.hpp>

namespace heddle::detail {

struct fork_queue;

}  // namespace heddle::detail

extern "C" {
// The fork queue of the worker that the calling kernel thread carries, or null on a kernel thread that carries none.
// Never use the variable itself: compilers keep a thread_local's address across calls, and after a call a user-level
// thread may be on another kernel thread (LLVM #98479).
extern HEDDLE_API thread_local constinit heddle::detail::fork_queue* heddle_current_queue
    __attribute__((tls_model("initial-exec")));
}

namespace heddle::detail {

// The variable's address is computed inside the asm, where the compiler cannot keep it. The memory clobber keeps the
// compiler from moving the read across a call.
[[gnu::always_inline]] inline fork_queue* current_queue() noexcept {
  fork_queue* queue;
#if defined(__x86_64__)
  asm volatile("movq heddle_current_queue@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(queue) : : "memory");
#elif defined(__aarch64__)
  void* offset;
  asm volatile(
      "mrs %0, tpidr_el0\n\tadrp %1, :gottprel:heddle_current_queue\n\t"
      "ldr %1, [%1, #:gottprel_lo12:heddle_current_queue]\n\tldr %0, [%0, %1]"
      : "=&r"(queue), "=&r"(offset)
      :
      : "memory");
#else
#error "heddle runs on x86-64 and AArch64"
#endif
  return queue;
}

}  // namespace heddle::detail

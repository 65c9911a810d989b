// The prototypes' interface to the machine: pause, clock, membarrier, the cheap full fence, a migration-safe
// thread-local read.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

// One thread-local word for the worker; extern "C" so that the assembly below can name it.
extern "C" {
extern thread_local void* deque_bench_worker;
}

namespace deque_bench {

inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

inline void compiler_barrier() noexcept { asm volatile("" ::: "memory"); }

// A store before it is visible before any load after it. A locked operation, since clang emits
// mfence for a seq_cst fence.
inline void full_fence() noexcept {
#if defined(__x86_64__)
  asm volatile("lock; orl $0, -64(%%rsp)" ::: "memory", "cc");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

inline void membarrier_register() {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) {
    std::perror("membarrier");
    std::exit(1);
  }
}

// Every thread of the process that runs at the moment executes a full fence between the start and
// the end of this call.
inline void membarrier() noexcept {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) std::abort();
}

// Read anew at every call: an ordinary thread_local access may be cached by the compiler across a
// call that migrates the thread.
inline void* worker_pointer() noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  void* value;
  asm volatile("movq %%fs:deque_bench_worker@tpoff, %0" : "=r"(value));
  return value;
#else
  return deque_bench_worker;
#endif
}

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace deque_bench

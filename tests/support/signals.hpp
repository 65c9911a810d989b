// The parts that tests of signals share.
#pragma once

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace heddle_test {

inline int kernel_thread() { return static_cast<int>(syscall(SYS_gettid)); }

// By system call: a signal-yield thread may ask, too.
inline std::uint64_t blocked_now() {
  std::uint64_t bits = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &bits, sizeof bits);
  return bits;
}
inline bool is_blocked(int signal) { return (blocked_now() >> (signal - 1) & 1) != 0; }
// While it lives nothing interrupts the calling kernel thread.
struct nothing_interrupts {
  std::uint64_t before{0};
  nothing_interrupts() {
    const std::uint64_t all = ~std::uint64_t{0};
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof all);
  }
  ~nothing_interrupts() { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before); }
};

inline void compute(int rounds) {
  for (volatile int i = 0; i < rounds;) i = i + 1;
}

struct handled_by {
  struct sigaction before{};
  int number;
  handled_by(int signal, void (*handler)(int), int flags = SA_RESTART) : number(signal) {
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    EXPECT_EQ(sigaction(signal, &action, &before), 0);
  }
  ~handled_by() { sigaction(number, &before, nullptr); }
};

}  // namespace heddle_test

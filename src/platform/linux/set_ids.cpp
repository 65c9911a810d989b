#include "platform/linux/set_ids.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "arch/arch.hpp"
#include "platform/linux/glibc.hpp"

namespace heddle::platform {

namespace {

constexpr int set_ids_signal = 33;  // SIGSETXID, which sigaction() of glibc refuses

// The structure as the kernel has it.
struct action {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};

std::atomic<void (*)(int, siginfo_t*, void*)> glibcs{nullptr};  // handler; set before ours is installed

void handle(int number, siginfo_t* info, void* context) noexcept {
  const int saved = errno;
  void* const here = arch::thread_pointer();
  // The kernel knows the address of its thread's control block by the list of robust mutexes in it.
  char* robust = nullptr;
  std::size_t length = 0;
  if (syscall(SYS_get_robust_list, 0, &robust, &length) == 0) {
    arch::set_thread_pointer(robust - glibc::found.robust - glibc::found.control);
  }
  glibcs.load()(number, info, context);
  arch::set_thread_pointer(here);
  errno = saved;
}

}  // namespace

void stand_before_set_ids() noexcept {
  action now{};
  if (syscall(SYS_rt_sigaction, set_ids_signal, nullptr, &now, sizeof now.mask) != 0) return;
  if (now.handler == handle || now.handler == nullptr) return;
  glibcs.store(now.handler);
  now.handler = handle;
  now.mask = ~std::uint64_t{0};
  syscall(SYS_rt_sigaction, set_ids_signal, &now, nullptr, sizeof now.mask);
}

}  // namespace heddle::platform

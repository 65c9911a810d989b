#include <signal.h>

#include <atomic>
#include <cerrno>

#include "platform/platform.hpp"

namespace heddle::platform {

namespace {

constexpr int deadly[] = {SIGINT, SIGTERM, SIGABRT};

std::atomic<void (*)(int, bool) noexcept> told{nullptr};  // written before the handlers are installed

void on_deadly(int signal) {
  const int error = errno;
  if (auto* const tell = told.load(); tell != nullptr) tell(signal, signal == SIGABRT);
  else die_of(signal);
  errno = error;
}

bool handled_by(int signal, void (*handler)(int)) noexcept {
  struct sigaction now{};
  return sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == handler;
}

}  // namespace

void on_deadly_signals(void (*handler)(int, bool) noexcept) noexcept {
  if (handler != nullptr) told.store(handler);
  struct sigaction action{};
  action.sa_handler = handler != nullptr ? on_deadly : SIG_DFL;
  // The handler runs on the kernel thread's alternate stack, because a user-level thread's own stack may have little
  // room left. Because of SA_RESETHAND the second signal finds the default.
  action.sa_flags = handler != nullptr ? SA_RESTART | SA_ONSTACK | static_cast<int>(SA_RESETHAND) : 0;
  sigfillset(&action.sa_mask);
  for (const int signal : deadly) {
    if (handled_by(signal, handler != nullptr ? SIG_DFL : on_deadly)) sigaction(signal, &action, nullptr);
  }
  if (handler == nullptr) told.store(nullptr);
}

void die_of(int signal) noexcept {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  raise(signal);  // stays blocked if this is its handler
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

}  // namespace heddle::platform

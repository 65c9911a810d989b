// The sleep of KLT-switching before its first improvement: sigsuspend, ended by a tick (naive).
#include <signal.h>

#include "worker/preemption/klt_means.hpp"

namespace heddle::comparison {

namespace {

void sleep_until_tick(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  sigset_t ticks, before;
  sigemptyset(&ticks);
  sigaddset(&ticks, platform::signal_of_ticks());
  pthread_sigmask(SIG_BLOCK, &ticks, &before);
  sigset_t open = before;
  sigdelset(&open, platform::signal_of_ticks());
  while (word.load() == expected) sigsuspend(&open);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

[[maybe_unused]] static const bool is_used = (worker::use_for_comparison({.sleep = sleep_until_tick}), true);

}  // namespace heddle::comparison

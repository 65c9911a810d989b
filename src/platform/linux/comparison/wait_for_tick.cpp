#include <signal.h>

#include "platform/comparison.hpp"
#include "platform/linux/tick.hpp"

namespace heddle::platform {

void wait_for_tick(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  sigset_t ticks, before;
  sigemptyset(&ticks);
  sigaddset(&ticks, signal_of_ticks());
  pthread_sigmask(SIG_BLOCK, &ticks, &before);
  sigset_t open = before;
  sigdelset(&open, signal_of_ticks());
  while (word.load() == expected) sigsuspend(&open);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace heddle::platform

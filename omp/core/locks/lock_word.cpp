#include "omp/core/locks/lock_word.hpp"

#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

// Lies on the stack of the thread that waits.
struct lock_word::sleeper {
  sleeper* next;  // the one that came before
  thread* who;
  std::atomic<bool> woken{false};  // set by the holder, once it has taken this out of the list
};

void lock_word::lock_slowly() noexcept {
  thread& self = thread::current();
  for (;;) {
    std::uintptr_t now = 0;
    const auto free_now = [&] {
      now = word_.load(std::memory_order_relaxed);  // relaxed: confirmed by the exchange
      return (now & is_held) == 0;
    };
    for (int turn = 0; turn < 100 && !active_count::exceeds() && !free_now(); ++turn) heddle_pause();
    if (free_now()) {
      // acquire pairs with unlock
      if (word_.compare_exchange_weak(now, now | is_held, std::memory_order_acquire)) return;
      continue;
    }
    sleeper mine{reinterpret_cast<sleeper*>(now & ~is_held), &self};
    // release pairs with unlock_slowly: publishes `mine`
    if (!word_.compare_exchange_weak(now, reinterpret_cast<std::uintptr_t>(&mine) | is_held, std::memory_order_release,
                                     std::memory_order_relaxed))
      continue;
    self.parker.wait([&] { return mine.woken.load(std::memory_order_acquire); });  // pairs with unlock_slowly
  }
}

// Only the holder takes sleepers out of the list, so nothing in it goes away meanwhile. Each exchange releases what
// this holder wrote to the next one, and acquires the list when it finds that another thread has come.
void lock_word::unlock_slowly() noexcept {
  // pairs with lock_slowly: makes the list visible
  std::uintptr_t now = word_.load(std::memory_order_acquire);
  sleeper* chosen;
  for (;;) {
    auto* const newest = reinterpret_cast<sleeper*>(now & ~is_held);
    if (newest == nullptr) {
      // release pairs with lock_slowly, acquire: what the holder wrote. On failure acquire pairs with its exchange: the
      // list.
      if (word_.compare_exchange_weak(now, is_free, std::memory_order_release, std::memory_order_acquire)) return;
      continue;
    }
    if (newest->next == nullptr) {
      chosen = newest;
      // As above: release for the next holder, acquire for the list if somebody has come.
      if (word_.compare_exchange_weak(now, is_free, std::memory_order_release, std::memory_order_acquire)) break;
      continue;
    }
    // The oldest is at the end of the list, where no other thread is.
    sleeper* before = newest;
    while (before->next->next != nullptr) before = before->next;
    chosen = before->next;
    before->next = nullptr;
    // As above. Those who come meanwhile put themselves in front, so `now` changes and `before` stays in the list.
    while (!word_.compare_exchange_weak(now, now & ~is_held, std::memory_order_release, std::memory_order_acquire)) {
    }
    break;
  }
  thread& who = *chosen->who;  // a descriptor exists for ever
  // pairs with lock_slowly; `chosen` is gone from here on
  chosen->woken.store(true, std::memory_order_release);
  who.parker.wake();
}

}  // namespace heddle::omp

// Waiting for and handing on a mutex. Protocol and proof: README.md, "Mutex".
#include <heddle/mutex.hpp>

#include "arch/arch.hpp"
#include "platform/platform.hpp"
#include "trace/emit.hpp"
#include "worker/section.hpp"
#include "worker/worker.hpp"

namespace heddle {

namespace {

constexpr unsigned patience = 4;  // wake-ups in vain before a waiter is handed the lock
constexpr unsigned spins = 16;    // pauses before a suspension: a critical section of a few instructions ends meanwhile

// What waiter::payload says of a thread that waits for a mutex.
char impatient_mark, owner_mark;

struct mutex_request {
  mutex* object;
  bool was_woken;  // the bit `woken` stands for this thread
};

}  // namespace

bool mutex::enqueue(void* request, detail::waiter& w) noexcept {
  auto& r = *static_cast<mutex_request*>(request);
  mutex& m = *r.object;
  m.guard_.lock();
  std::uint32_t word = m.word_.load();
  do {
    if ((word & locked) == 0) {
      m.guard_.unlock();
      return false;
    }
  } while (!m.word_.compare_exchange_weak(word, (r.was_woken ? word & ~woken : word) | has_waiters));
  m.waiters_.push_back(w);
  m.guard_.unlock();
  return true;
}

bool mutex::lock_slow(const detail::deadline* limit) noexcept {
  const void* const place = static_cast<const char*>(__builtin_return_address(0)) - 1;
  const worker::section inside;
  mutex_request request{this, false};
  for (unsigned lost = 0;;) {
    for (unsigned i = 0;; ++i) {
      std::uint32_t word = word_.load(std::memory_order_relaxed);  // verified by the exchange
      while ((word & locked) == 0) {
        const std::uint32_t next = (request.was_woken ? word & ~woken : word) | locked;
        // acquire pairs with unlock: what the last holder wrote
        if (word_.compare_exchange_weak(word, next, std::memory_order_acquire, std::memory_order_relaxed)) return true;
      }
      if (i == spins || (word & has_waiters) != 0) break;
      arch::pause();
    }
    detail::waiter w("mutex");
    w.object = this;
    w.place = place;
    if (lost >= patience) w.payload = &impatient_mark;
    const detail::wake_reason reason =
        limit == nullptr ? detail::suspend(w, enqueue, &request) : detail::suspend_until(w, enqueue, &request, *limit);
    switch (reason) {
      case detail::wake_reason::notified:
        if (w.payload == &owner_mark) return true;
        request.was_woken = true;
        ++lost;
        break;
      case detail::wake_reason::timed_out:
        guard_.lock();
        waiters_.remove(w);
        if (waiters_.empty()) word_.fetch_and(~has_waiters);
        guard_.unlock();
        return false;
      default:
        break;  // free at the last look
    }
  }
}

std::uintptr_t detail::holder_of(const mutex* object) noexcept {
  std::uint32_t word = 0;
  std::uintptr_t holder = 0;
  const bool known = platform::read_memory(&object->word_, &word, sizeof word) && platform::read_memory(&object->holder_, &holder, sizeof holder);
  return known && (word & mutex::locked) != 0 ? holder : 0;
}

void mutex::unlock_slow() noexcept {
  const void* const place = static_cast<const char*>(__builtin_return_address(0)) - 1;
  const worker::section inside;
  std::uint32_t word = word_.load();
  for (;;) {
    if ((word & has_waiters) == 0 || (word & woken) != 0) {
      // Nobody is to be woken. The last access to the mutex: it may be gone.
      if (word_.compare_exchange_weak(word, word & ~locked)) return;
      continue;
    }
    guard_.lock();
    detail::waiter* w = waiters_.pop_front();
    while (w != nullptr && !detail::claim(*w, detail::wake_reason::notified)) w = waiters_.pop_front();
    if (waiters_.empty()) word_.fetch_and(~has_waiters);
    const bool hand_over = w != nullptr && w->payload == &impatient_mark;
    if (hand_over) w->payload = &owner_mark;
    else if (w != nullptr) word_.fetch_or(woken);
    guard_.unlock();
    if (w != nullptr) {
      if (!hand_over) word_.fetch_and(~locked);  // the last access to the mutex
      // Before the waiter can be seen to go on.
      if (worker::worker* me = worker::worker::current(); me != nullptr) trace::emit<trace::event::lock_passed>(me->ring, this, place);
      detail::resume(*w);
      return;
    }
    word = word_.load();
  }
}

}  // namespace heddle

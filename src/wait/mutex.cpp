// Waiting for and handing on a mutex. Protocol and proof: mutex.md.
#include <heddle/mutex.hpp>

#include "arch/arch.hpp"
#include "trace/emit.hpp"
#include "worker/order/inheritance.hpp"
#include "worker/preemption/section.hpp"
#include "worker/worker.hpp"

namespace heddle {

namespace {

constexpr unsigned most_lost = 4;  // wake-ups in vain before a waiter is handed the lock
constexpr unsigned in_order = 4;   // every fourth waiter is chosen by order of arrival, the others by level
// Pauses before a suspension, because a critical section of a few instructions ends meanwhile. A worker leaves them out
// where they have been in vain (sync/spin_habit.hpp).
constexpr unsigned most_pauses = 16;

// The values of waiter::payload for a thread that waits for a mutex.
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
  detail::lock_word::state seen = m.state_.word.now();
  do {
    if (!seen.is_locked()) {
      m.guard_.unlock();
      return false;
    }
  } while (!m.state_.word.begin_waiting(seen, r.was_woken));
  m.waiters_.push_back(w);
  if (worker::levels_are_used()) [[unlikely]]
    worker::begin_inheritance(m.state_, w);
  m.guard_.unlock();
  return true;
}

bool mutex::lock_slow(const detail::deadline* limit) noexcept {
  const void* const place = static_cast<const char*>(__builtin_return_address(0)) - 1;
  const worker::section inside;
  mutex_request request{this, false};
  for (unsigned lost = 0;;) {
    worker::worker* const me = worker::worker::current_or_null();
    unsigned pauses = 0;
    for (;; ++pauses) {
      detail::lock_word::state seen = state_.word.glance();
      while (!seen.is_locked()) {
        if (!state_.word.take(seen, detail::current_holder(), request.was_woken)) continue;
        if (pauses != 0 && me != nullptr) me->lock_spins.learn(true);
        if (seen.has_waiters()) inherit();
        return true;
      }
      if (pauses == most_pauses || seen.has_waiters()) break;
      if (pauses == 0 && me != nullptr && !me->lock_spins.are_tried()) break;
      arch::pause();
    }
    if (pauses == most_pauses && me != nullptr) me->lock_spins.learn(false);
    detail::waiter w("mutex");
    w.object = &state_;
    w.place = place;
    if (lost >= most_lost) w.payload = &impatient_mark;
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
        if (waiters_.empty()) state_.word.end_waiting();
        if (worker::levels_are_used()) worker::end_waiting(state_, w, waiters_);
        guard_.unlock();
        return false;
      default: break;  // it was free at the last look
    }
  }
}

// Called when the caller has taken the mutex and other threads wait for it.
void mutex::inherit() noexcept {
  if (!worker::levels_are_used()) [[likely]]
    return;
  const worker::section inside;
  guard_.lock();
  worker::inherit(state_, waiters_);
  guard_.unlock();
}

detail::waiter* mutex::next_waiter() noexcept {
  const bool by_level = worker::levels_are_used() && ++chosen_ % in_order != 0;
  detail::waiter* w = by_level ? worker::most_urgent(waiters_) : waiters_.front();
  if (w != nullptr) waiters_.remove(*w);
  return w;
}

void mutex::unlock_slow() noexcept {
  const void* const place = static_cast<const char*>(__builtin_return_address(0)) - 1;
  const worker::section inside;
  detail::lock_word::state seen = state_.word.now();
  for (;;) {
    if (!seen.may_have_inherited() && (!seen.has_waiters() || seen.has_woken())) {
      // No waiter is to be woken. This is the last access to the mutex, which may be gone after it.
      if (state_.word.release(seen)) return;
      continue;
    }
    guard_.lock();
    detail::waiter* w = nullptr;
    if (!state_.word.now().has_woken()) {
      w = next_waiter();
      while (w != nullptr && !detail::claim(*w, detail::wake_reason::notified)) w = next_waiter();
      if (waiters_.empty()) state_.word.end_waiting();
    }
    const bool hand_over = w != nullptr && w->payload == &impatient_mark;
    if (hand_over) w->payload = &owner_mark;
    else if (w != nullptr) state_.word.wake_one();
    if (worker::levels_are_used()) [[unlikely]]
      worker::leave(state_, w, hand_over);
    else if (hand_over) worker::set_holder(state_, *w);
    if (hand_over && worker::levels_are_used()) [[unlikely]]
      worker::inherit(state_, waiters_);
    guard_.unlock();
    if (w != nullptr) {
      if (!hand_over) state_.word.release();  // the last access to the mutex
      // This must come before the waiter can be seen to go on.
      if (worker::worker* me = worker::worker::current_or_null(); me != nullptr)
        trace::emit<trace::event::lock_passed>(me->ring, &state_, place);
      detail::resume(*w);
      return;
    }
    seen = state_.word.now();
  }
}

}  // namespace heddle

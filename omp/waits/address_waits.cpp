#include "omp/waits/address_waits.hpp"

#include <pthread.h>

#include <mutex>
#include <new>

#include "omp/waits/member.hpp"

namespace heddle::omp::waits {

namespace {

// Constant-initialised, and without destructors that run.
template <class T>
union lasting {
  constexpr lasting() noexcept : value() {}
  ~lasting() {}  // NOLINT: nothing to be done
  T value;
};

constinit lasting<address_waits> mutexes;
constinit lasting<address_waits> conditions;

void after_fork_in_child() noexcept {
  const heddle::detail::fork_queue* const queue = heddle::detail::current_queue();
  orphan.store(queue, std::memory_order_relaxed);  // the child has one thread
  at_mutexes.forget();
  at_conditions.forget();
}

[[gnu::constructor]] void tell_of_forks() noexcept { pthread_atfork(nullptr, nullptr, after_fork_in_child); }

// The runtime's own code, on a worker: it may not be suspended.
bool may_be_suspended() noexcept {
  const heddle::detail::fork_queue* const queue = heddle::detail::current_queue();
  return queue == nullptr || runs_own_code(queue);
}

}  // namespace

constinit address_waits& at_mutexes = mutexes.value;
constinit address_waits& at_conditions = conditions.value;

void address_waits::forget() noexcept {
  for (row& r : rows_) ::new (&r) row;
  waiting_.store(0, std::memory_order_relaxed);  // the child has one thread
}

// Whoever lets go of a row looks whether a call was missed meanwhile ([waits:3]).
void address_waits::unlock(row& r) noexcept {
  for (;;) {
    r.lock.unlock();
    if (!r.missed.load() || !r.lock.try_lock()) return;
    if (r.missed.exchange(false)) call_in(r, nullptr, true);
  }
}

// Under the lock. Null: whatever the address.
void address_waits::call_in(row& r, const void* address, bool everybody) noexcept {
  for (one* at = r.first; at != nullptr;) {
    one* const next = at->next_;
    if (address == nullptr || at->address_ == address) {
      (at->previous_ == nullptr ? r.first : at->previous_->next_) = next;
      (next == nullptr ? r.last : next->previous_) = at->previous_;
      at->is_in_ = false;
      at->called_.release();  // it may be gone when the lock is let go
      if (!everybody) return;
    }
    at = next;
  }
}

void address_waits::call(const void* address, bool everybody) noexcept {
  row& r = row_of(address);
  if (may_be_suspended()) {
    r.lock.lock();
  } else if (!r.lock.try_lock()) {
    r.missed.store(true);
    if (!r.lock.try_lock()) return;  // its holder sees `missed`
  }
  call_in(r, address, everybody);
  unlock(r);
}

address_waits::one::one(address_waits& in, const void* address, bool has_waited) noexcept : in_(in), address_(address) {
  row& r = in_.row_of(address);
  r.lock.lock();
  if (has_waited) {
    next_ = r.first;
    (next_ == nullptr ? r.last : next_->previous_) = this;
    r.first = this;
  } else {
    previous_ = r.last;
    (previous_ == nullptr ? r.first : previous_->next_) = this;
    r.last = this;
  }
  in_.waiting_.fetch_add(1);  // [waits:2]
  unlock(r);
}

bool address_waits::one::leave() noexcept {
  row& r = in_.row_of(address_);
  r.lock.lock();
  const bool was_in = is_in_;
  if (was_in) {
    (previous_ == nullptr ? r.first : previous_->next_) = next_;
    (next_ == nullptr ? r.last : next_->previous_) = previous_;
    is_in_ = false;
  }
  unlock(r);
  return was_in;
}

address_waits::one::~one() {
  leave();
  in_.waiting_.fetch_sub(1);
}

bool address_waits::one::sleep_until(std::chrono::steady_clock::time_point limit) noexcept {
  const resting now;
  if (called_.try_acquire_until(limit)) return true;
  return !leave();
}

}  // namespace heddle::omp::waits

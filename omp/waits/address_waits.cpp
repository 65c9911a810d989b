#include "omp/waits/address_waits.hpp"

#include <pthread.h>
#include <unistd.h>

#include <new>

#include <heddle/pause.hpp>

#include "omp/waits/member.hpp"

namespace heddle::omp::waits {

namespace {

// An object that is constant-initialised and whose destructor does not run.
template <class T>
union lasting {
  constexpr lasting() noexcept : value() {}
  ~lasting() {}  // NOLINT: nothing to be done
  T value;
};

constinit lasting<address_waits> mutexes;
constinit lasting<address_waits> conditions;

// The number of looks at a row's lock before a call is left to its holder, which may be preempted.
constexpr int spins = 64;

constinit std::atomic<int> forks{0};   // the number of forks under way; publishes `parent`
constinit std::atomic<int> parent{0};  // the process that forks

void before_fork() noexcept {
  parent.store(::getpid(), std::memory_order_relaxed);  // relaxed: published by `forks`
  // pairs with is_unprepared_child: publishes `parent`
  forks.fetch_add(1, std::memory_order_release);
}
// relaxed: `parent` stays right
void after_fork_in_parent() noexcept { forks.fetch_sub(1, std::memory_order_relaxed); }

// Handlers of others may run in a child before ours. The waiting members are in the parent.
bool is_unprepared_child() noexcept {
  // acquire pairs with before_fork: makes `parent` visible
  return forks.load(std::memory_order_acquire) != 0 && ::getpid() != parent.load(std::memory_order_relaxed);
}

void after_fork_in_child() noexcept {
  const heddle::detail::fork_queue* const queue = heddle::detail::current_queue();
  orphan.store(queue, std::memory_order_relaxed);  // the child has one thread
  at_mutexes.forget();
  at_conditions.forget();
  forks.store(0, std::memory_order_relaxed);  // the child has one thread
}

[[gnu::constructor]] void tell_of_forks() noexcept {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace

constinit address_waits& at_mutexes = mutexes.value;
constinit address_waits& at_conditions = conditions.value;

void address_waits::forget() noexcept {
  for (row& r : rows_) ::new (&r) row;
  waiting_.store(0, std::memory_order_relaxed);  // the child has one thread
}

// A thread that releases a row looks whether a call was missed meanwhile ([waits:3]).
void address_waits::unlock(row& r) noexcept {
  for (;;) {
    r.lock.unlock();
    std::atomic_thread_fence(std::memory_order_seq_cst);  // [waits:3]: pairs with call
    if (!r.missed.load() || !r.lock.try_lock()) return;
    if (r.missed.exchange(false)) call_in(r, nullptr, true);
  }
}

// Must be called under the lock.
void address_waits::take_out(row& r, one& waiter) noexcept {
  (waiter.previous_ == nullptr ? r.first : waiter.previous_->next_) = waiter.next_;
  (waiter.next_ == nullptr ? r.last : waiter.next_->previous_) = waiter.previous_;
  waiter.is_in_ = false;
  // relaxed: a thread that reads too much finds no waiter
  r.size.fetch_sub(1, std::memory_order_relaxed);
}

// Must be called under the lock. A null address means all addresses.
void address_waits::call_in(row& r, const void* address, bool everybody) noexcept {
  for (one* at = r.first; at != nullptr;) {
    one* const next = at->next_;
    if (address == nullptr || at->address_ == address) {
      take_out(r, *at);
      at->called_.release();  // it may be gone when the lock is released
      if (!everybody) return;
    }
    at = next;
  }
}

void address_waits::call(const void* address, bool everybody) noexcept {
  if (is_unprepared_child()) return;
  row& r = row_of(address);
  if (r.size.load(std::memory_order_relaxed) == 0) return;  // [waits:2]
  bool has_it = r.lock.try_lock();
  for (int turn = 0; turn < spins && !has_it; ++turn) {
    heddle_pause();
    has_it = r.lock.try_lock();
  }
  if (!has_it) {
    r.missed.store(true);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // [waits:3]: pairs with unlock
    if (!r.lock.try_lock()) return;                       // its holder sees `missed`
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
  r.size.fetch_add(1, std::memory_order_relaxed);  // relaxed: before the fence, as the other count
  in_.waiting_.fetch_add(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // [waits:2]: before the attempt that follows
  unlock(r);
}

bool address_waits::one::leave() noexcept {
  row& r = in_.row_of(address_);
  r.lock.lock();
  const bool was_in = is_in_;
  if (was_in) take_out(r, *this);
  unlock(r);
  return was_in;
}

address_waits::one::~one() {
  leave();
  // relaxed: a thread that reads too much finds no waiter
  in_.waiting_.fetch_sub(1, std::memory_order_relaxed);
}

bool address_waits::one::sleep_until(std::chrono::steady_clock::time_point limit) noexcept {
  const resting now;
  return called_.try_acquire_until(limit);
}

}  // namespace heddle::omp::waits

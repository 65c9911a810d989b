// Waiting for a word.
//
// The problem: a lock has only one word, and waiting threads need a place to be found. The word is `free`, `held`, or
// `waited_for`. The waiting threads are in a table, in a row by the lock's address.
// 1. A waiter locks the table's row for the address and exchanges the word for `waited_for`. If the word was free, the
//    waiter holds it from then on, and the row's lock is released. Otherwise the waiter enters the row.
// 2. A thread that releases a word which says `waited_for` locks the row. It takes the first waiter for the address out
//    of the row, makes the word free (or leaves it, if the waiter is handed the lock), and calls the waiter. No call is
//    lost: while a waiter is in the row the word says `waited_for`, because both change under the row's lock, and only
//    holders make the word free. The waiter is on its thread's stack, and gone as soon as it is called; its thread's
//    descriptor exists for ever ([thread:1]).
#include "omp/core/locks/lock.hpp"

#include <mutex>

#include <heddle/mutex.hpp>
#include <heddle/pause.hpp>

#include "omp/core/locks/kept.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

namespace {

// Pauses before it sleeps; a critical section of a few instructions ends meanwhile.
constexpr unsigned spins = 64;
constexpr unsigned most_lost = 4;  // calls in vain after which a waiter is handed the lock

struct waiter {
  const void* address;
  thread* who;
  bool impatient;
  bool was_handed{false};           // written before `called`
  std::atomic<bool> called{false};  // publishes was_handed
  waiter* next{nullptr};
};

// A mutex and not a spin_word, because threads that hold it may be preempted.
struct alignas(64) row {
  heddle::mutex lock;
  waiter* first{nullptr};
  waiter** end{&first};

  void push(waiter& w) noexcept {
    *end = &w;
    end = &w.next;
  }
  waiter* pop(const void* address) noexcept {
    for (waiter** at = &first; *at != nullptr; at = &(*at)->next) {
      waiter* const w = *at;
      if (w->address != address) continue;
      *at = w->next;
      if (*at == nullptr) end = at;
      return w;
    }
    return nullptr;
  }
};

constexpr unsigned rows = 64;
struct row_table {
  row all[rows];
};
constinit kept<row_table> table;  // static objects have locks
// The waiters of other threads do not exist in a child.
[[maybe_unused]] const bool told_of_forks = forget_in_children<table>();

row& row_of(const void* address) noexcept {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  return table.object.all[(a >> 3 ^ a >> 9) % rows];
}

}  // namespace

void word_lock::lock_slow() noexcept {
  for (unsigned i = 0; i < spins; ++i) {
    const std::uint32_t seen = word_.load(std::memory_order_relaxed);  // relaxed: decided by try_lock
    if (seen == waited_for) break;
    if (seen == free && try_lock()) return;
    this_thread::pause();
  }
  thread& self = thread::current();
  row& r = row_of(this);
  for (unsigned lost = 0;; ++lost) {
    waiter w{this, &self, lost >= most_lost};
    {
      const std::lock_guard held_row(r.lock);
      if (word_.exchange(waited_for, std::memory_order_acquire) == free) return;  // pairs with unlock
      r.push(w);
    }
    self.parker.wait([&w] { return w.called.load(std::memory_order_acquire); });  // pairs with unlock_slow
    if (w.was_handed) return;
  }
}

void word_lock::unlock_slow() noexcept {
  row& r = row_of(this);
  thread* who = nullptr;
  {
    const std::lock_guard held_row(r.lock);
    waiter* const w = r.pop(this);
    if (w != nullptr && w->impatient) w->was_handed = true;
    else word_.store(free, std::memory_order_release);  // pairs with lock; the last access to the word
    if (w == nullptr) return;
    who = w->who;
    // pairs with lock_slow; the waiter is gone from here on
    w->called.store(true, std::memory_order_release);
  }
  who->parker.wake();
}

// All accesses are relaxed: the last owner's writes come with lock_ (lock.hpp).
int nest_lock::lock(const task* by) noexcept {
  // relaxed, here and below: a task reads its own address only if it wrote it, under lock_, and has not unlocked since
  if (owner_.load(std::memory_order_relaxed) != by) {
    lock_.lock();
    owner_.store(by, std::memory_order_relaxed);
  }
  return ++depth_;
}

int nest_lock::try_lock(const task* by) noexcept {
  if (owner_.load(std::memory_order_relaxed) != by) {
    if (!lock_.try_lock()) return 0;
    owner_.store(by, std::memory_order_relaxed);
  }
  return ++depth_;
}

int nest_lock::unlock() noexcept {
  const int left = --depth_;
  if (left == 0) {
    owner_.store(nullptr, std::memory_order_relaxed);
    lock_.unlock();
  }
  return left;
}

}  // namespace heddle::omp

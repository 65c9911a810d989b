#include "queue/fork_queue.hpp"

#include <algorithm>

#include "base/contracts.hpp"
#include "sync/spin_guard.hpp"

namespace heddle::queue {

namespace {

using guard = sync::spin_guard;

// All below run under the guard, hence relaxed: the guard orders them; the owner's fast path needs only its own
// stores, or the limits as of some moment that README.md, "Limits", argues about.
slot* top_of(const fork_queue& q) noexcept { return q.top.load(std::memory_order_relaxed); }
slot* split_of(const fork_queue& q) noexcept { return q.split.load(std::memory_order_relaxed); }

void set_limits(fork_queue& q) noexcept {
  q.push_limit.store(q.every_fork ? nullptr : q.end, std::memory_order_relaxed);
  q.pop_limit.store(split_of(q), std::memory_order_relaxed);
  ++q.epoch;
}

// Makes the oldest private entry below `bottom` public when somebody asked and nothing is public. True when it did.
bool answer(fork_queue& q, slot* bottom) noexcept {
  if (!q.requested.load(std::memory_order_relaxed)) return false;
  if (top_of(q) < split_of(q)) {          // the requester will find what is there
    q.requested.store(false, std::memory_order_relaxed);
    return true;
  }
  if (split_of(q) >= bottom) return false;  // nothing to give: the request stands
  q.split.store(split_of(q) + 1, std::memory_order_relaxed);
  q.requested.store(false, std::memory_order_relaxed);
  return true;
}

// A standing request keeps both limits at their poison, so that the next fork or join answers it.
void close(fork_queue& q) noexcept {
  set_limits(q);
  if (q.requested.load(std::memory_order_relaxed)) {
    q.push_limit.store(nullptr, std::memory_order_relaxed);
  }
}

void rewind_if_empty(fork_queue& q) noexcept {
  if (top_of(q) != q.bottom.load(std::memory_order_relaxed)) return;
  q.top.store(q.base, std::memory_order_relaxed);
  q.split.store(q.base, std::memory_order_relaxed);
  q.bottom.store(q.base, std::memory_order_release);  // pairs with force_steal: the queue is empty
}

// Owner, under the guard: is the entry at `position`, which bottom has been lowered to, still there?
bool settle_pop(fork_queue& q, slot* position) noexcept {
  const bool mine = position >= top_of(q);
  if (mine) {
    q.split.store(std::min(split_of(q), position), std::memory_order_relaxed);
  } else {
    q.bottom.store(position + 1, std::memory_order_relaxed);  // own variable
  }
  rewind_if_empty(q);
  return mine;
}

}  // namespace

void attach(fork_queue& q, slot* memory, std::size_t capacity) noexcept {
  q.base = memory + 1;
  q.end = q.base + capacity;
  q.bottom.store(q.base, std::memory_order_relaxed);  // before any other thread sees the queue, as the next two
  q.top.store(q.base, std::memory_order_relaxed);
  q.split.store(q.base, std::memory_order_relaxed);
  set_limits(q);
}

slow_outcome push(fork_queue& q, entry item) noexcept {
  guard hold(q.guard);
  slot* bottom = q.bottom.load(std::memory_order_relaxed);  // own variable
  if (bottom >= q.end) return {false, false};
  bottom->store(item, std::memory_order_relaxed);           // published by the store below
  q.bottom.store(bottom + 1, std::memory_order_release);    // pairs with force_steal: the slot and the job's fields
  const bool published = answer(q, bottom + 1);
  close(q);
  return {true, published};
}

slow_outcome pop(fork_queue& q, slot* position) noexcept {
  guard hold(q.guard);
  const bool mine = settle_pop(q, position);
  const bool published = answer(q, q.bottom.load(std::memory_order_relaxed));
  close(q);
  return {mine, published};
}

entry take_newest_slow(fork_queue& q, bool& published) noexcept {
  published = false;
  slot* bottom = q.bottom.load(std::memory_order_relaxed);  // own variable
  slot* position = bottom - 1;
  const entry item = position->load(std::memory_order_relaxed);
  q.bottom.store(position, std::memory_order_relaxed);  // pairs with force_steal through its membarrier: the entry is mine
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (position >= q.pop_limit.load(std::memory_order_relaxed)) [[likely]] return item;
  const slow_outcome outcome = pop(q, position);
  published = outcome.published;
  return outcome.done ? item : 0;
}

entry steal(fork_queue& q, bool& left) noexcept {
  left = false;
  if (!has_public(q)) return 0;
  guard hold(q.guard, std::try_to_lock);
  if (!hold) return 0;
  slot* top = top_of(q);
  if (top >= split_of(q)) return 0;
  const entry item = top->load(std::memory_order_relaxed);  // the guard orders it after the owner's store
  q.top.store(top + 1, std::memory_order_relaxed);
  left = top + 1 < split_of(q);
  return item;
}

void request(fork_queue& q) noexcept {
  if (q.requested.load(std::memory_order_relaxed)) return;  // somebody's request stands: it serves us too
  guard hold(q.guard);
  q.requested.store(true, std::memory_order_relaxed);
  q.push_limit.store(nullptr, std::memory_order_relaxed);
  q.pop_limit.store(q.end, std::memory_order_relaxed);
}

void withdraw_request(fork_queue& q) noexcept {
  guard hold(q.guard);
  q.requested.store(false, std::memory_order_relaxed);
  close(q);
}

entry force_steal(fork_queue& q, void (*heavy_fence)()) noexcept {
  std::uint64_t epoch;
  {
    guard hold(q.guard, std::try_to_lock);
    if (!hold) return 0;
    q.pop_limit.store(q.end, std::memory_order_relaxed);  // step 1: every later pop of the owner needs the guard
    epoch = q.epoch;
  }
  heavy_fence();                                          // step 2: no pop that missed step 1 is still invisible
  guard hold(q.guard, std::try_to_lock);
  if (!hold || q.epoch != epoch) return 0;                // the owner came by: it answers requests itself
  slot* top = top_of(q);
  // pairs with push and the fast push: the slot and the job's fields
  if (top >= q.bottom.load(std::memory_order_acquire)) return 0;
  const entry item = top->load(std::memory_order_relaxed);
  q.top.store(top + 1, std::memory_order_relaxed);
  if (split_of(q) < top + 1) q.split.store(top + 1, std::memory_order_relaxed);
  return item;
}

void watch_every_fork(fork_queue& q, bool on) noexcept {
  guard hold(q.guard);
  q.every_fork = on;
  close(q);
}

}  // namespace heddle::queue

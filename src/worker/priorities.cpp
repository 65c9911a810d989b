#include "worker/priorities.hpp"

#include <bit>
#include <mutex>

#include "platform/platform.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

using fiber::thread;

namespace {

constexpr unsigned oldest_every = 16;  // picks of a worker from its pile: so that nobody below stays there for ever

}  // namespace

void priorities::push(thread& t, unsigned rank, place where) noexcept {
  if (where != place::back) t.ready_since = platform::ticks();
  if (t.level > 0) push_high(t, where);
  else push_low(t, rank, where);
}

void priorities::push_high(thread& t, place where) noexcept {
  std::lock_guard hold(high_lock_);
  high_queue& q = queues_[t.level - 1];
  if (where == place::back) {
    t.next = q.first;
    if (q.first == nullptr) q.last = &t;
    q.first = &t;
  } else {
    t.next = nullptr;
    (q.first == nullptr ? q.first : q.last->next) = &t;
    q.last = &t;
  }
  high_.fetch_or(std::uint32_t{1} << (t.level - 1));  // a full fence: the caller looks for sleepers after it
}

// Under high_lock_.
thread* priorities::pop_high(int level) noexcept {
  high_queue& q = queues_[level - 1];
  thread* t = q.first;
  q.first = t->next;
  if (q.first == nullptr) high_.fetch_and(~(std::uint32_t{1} << (level - 1)));
  return t;
}

thread* priorities::take_high(int least) noexcept {
  if (!any_high(least)) return nullptr;
  std::lock_guard hold(high_lock_);
  const int level = static_cast<int>(std::bit_width(high_.load(std::memory_order_relaxed)));  // under high_lock_
  return level < least ? nullptr : pop_high(level);
}

void priorities::push_low(thread& t, unsigned rank, place where) noexcept {
  const int index = -1 - t.level;
  pile& to = piles_[rank];
  std::lock_guard hold(to.lock);
  pile::ends& e = to.levels[index];
  thread* const newest = e.newest.load(std::memory_order_relaxed);  // under the pile's lock; to others a hint
  if (newest == nullptr) {
    t.next = t.newer = nullptr;
    e.oldest = &t;
    e.newest.store(&t, std::memory_order_relaxed);  // under the pile's lock; to others a hint
  } else if (where == place::behind) {
    t.next = nullptr;
    t.newer = e.oldest;
    e.oldest->next = &t;
    e.oldest = &t;
  } else {
    t.next = newest;
    t.newer = nullptr;
    newest->newer = &t;
    e.newest.store(&t, std::memory_order_relaxed);  // under the pile's lock; to others a hint
  }
  e.count.store(e.count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // under the pile's lock; to others a hint
  if (where == place::back && (to.first_ready == nullptr || t.ready_since <= to.first_ready->ready_since)) {
    t.waits_longer = nullptr;
    t.waits_shorter = to.first_ready;
    (to.first_ready == nullptr ? to.last_ready : to.first_ready->waits_longer) = &t;
    to.first_ready = &t;
  } else {
    t.waits_shorter = nullptr;
    t.waits_longer = to.last_ready;
    (to.last_ready == nullptr ? to.first_ready : to.last_ready->waits_shorter) = &t;
    to.last_ready = &t;
  }
  to.oldest_since.store(to.first_ready->ready_since, std::memory_order_relaxed);  // under the pile's lock; to others a hint
  low_[index].fetch_add(1);  // a full fence: the caller looks for sleepers after it
}

// Under the pile's lock.
void priorities::take_out(pile& from, thread& t) noexcept {
  const int index = -1 - t.level;
  pile::ends& e = from.levels[index];
  if (t.newer != nullptr) t.newer->next = t.next;
  else e.newest.store(t.next, std::memory_order_relaxed);  // under the pile's lock; to others a hint
  if (t.next != nullptr) t.next->newer = t.newer;
  else e.oldest = t.newer;
  e.count.store(e.count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);  // under the pile's lock; to others a hint
  (t.waits_longer == nullptr ? from.first_ready : t.waits_longer->waits_shorter) = t.waits_shorter;
  (t.waits_shorter == nullptr ? from.last_ready : t.waits_shorter->waits_longer) = t.waits_longer;
  from.oldest_since.store(from.first_ready == nullptr ? never : from.first_ready->ready_since, std::memory_order_relaxed);  // under the pile's lock; to others a hint
  low_[index].fetch_sub(1);
}

bool priorities::any_low(int least) const noexcept {
  for (int index = 0; index <= -1 - least; ++index) {
    if (low_[index].load(std::memory_order_relaxed) > 0) return true;  // a hint, or ordered by the caller's heavy fence
  }
  return false;
}

thread* priorities::take_from(pile& from, int index, bool own) noexcept {
  pile::ends& e = from.levels[index];
  if (e.newest.load(std::memory_order_relaxed) == nullptr) return nullptr;  // a hint; low_ tells the caller to try again
  std::lock_guard hold(from.lock);
  thread* t = e.newest.load(std::memory_order_relaxed);  // under the pile's lock
  if (t == nullptr) return nullptr;
  if (!own || ++from.taken % oldest_every == 0) t = e.oldest;
  take_out(from, *t);
  return t;
}

thread* priorities::take_low(unsigned rank, int least, bool even) noexcept {
  for (int index = 0; index <= -1 - least; ++index) {
    if (low_[index].load(std::memory_order_relaxed) <= 0) continue;  // a hint
    if (even) {
      unsigned fullest = rank;
      unsigned most = piles_[rank].levels[index].count.load(std::memory_order_relaxed) + 1;  // hints
      for (unsigned r = 0; r < workers_; ++r) {
        const unsigned there = piles_[r].levels[index].count.load(std::memory_order_relaxed);
        if (there <= most) continue;
        most = there;
        fullest = r;
      }
      if (fullest != rank) {
        if (thread* t = take_from(piles_[fullest], index, false); t != nullptr) return t;
      }
    }
    for (unsigned i = 0; i < workers_; ++i) {
      if (thread* t = take_from(piles_[(rank + i) % workers_], index, i == 0); t != nullptr) return t;
    }
  }
  return nullptr;
}

thread* priorities::take_starved(std::uint64_t limit) noexcept {
  std::uint64_t since = limit;
  pile* found = nullptr;
  for (unsigned r = 0; r < workers_; ++r) {
    const std::uint64_t there = piles_[r].oldest_since.load(std::memory_order_relaxed);  // a hint
    if (there >= since) continue;
    since = there;
    found = &piles_[r];
  }
  if (any_high(1)) {
    std::lock_guard hold(high_lock_);
    int level = 0;
    for (int l = 1; l <= highest_level; ++l) {
      if (queues_[l - 1].first == nullptr || queues_[l - 1].first->ready_since >= since) continue;
      since = queues_[l - 1].first->ready_since;
      level = l;
    }
    if (level != 0) return pop_high(level);
  }
  if (found == nullptr) return nullptr;
  std::lock_guard hold(found->lock);
  thread* t = found->first_ready;
  if (t == nullptr || t->ready_since >= limit) return nullptr;  // somebody else was here
  take_out(*found, *t);
  return t;
}

// All of it hints: a tick that comes to another thread, or not at all, changes when the level is served, not whether.
worker* runtime::lowest_below(int level) const noexcept {
  worker* lowest = nullptr;
  for (const auto& w : workers_) {
    const int its = w->evictable_at.load(std::memory_order_relaxed);  // a hint
    if (its >= level) continue;
    level = its;
    lowest = w.get();
  }
  return lowest;
}

void runtime::evict_for(int level) noexcept {
  if (idle_.anyone_asleep() || idle_.anyone_searching()) return;  // woken, or about to look
  if (worker* w = lowest_below(level); w != nullptr) {
    w->evictable_at.store(worker::not_evictable, std::memory_order_relaxed);  // the next one is for somebody else
    if (const int id = w->kernel_thread.load(std::memory_order_relaxed); id != 0) platform::send_tick(id);  // a hint
    return;
  }
  // Nobody else: perhaps the caller itself goes on at a lower level.
  worker* w = worker::current();
  if (w == nullptr || &w->home != this || !w->runs_below(level)) return;
  w->current_thread()->preemptive->pending.store(true, std::memory_order_relaxed);  // read by itself
}

}  // namespace heddle::worker

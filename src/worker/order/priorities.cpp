#include "worker/order/priorities.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include "platform/platform.hpp"

namespace heddle::worker {

using fiber::thread;

namespace {

// So often does a worker pick the oldest thread of its pile, so that no thread stays at the bottom for ever.
constexpr unsigned oldest_every = 16;

}  // namespace

// [inherit:4]. The level is looked at again when the thread stands in its list. The code that raises the level writes
// it first and then looks at `listed`. So one of the two sees the other (Dekker, sequentially consistent), and the
// thread ends up where it belongs.
bool priorities::push(thread& t, unsigned rank, position where) noexcept {
  for (;;) {
    const int level = t.level.load();
    if (level == 0) return false;
    if (where != position::back) t.listed.ready_since = platform::cycles();
    if (level > 0) {
      std::lock_guard hold(high_lock_);
      link_high(t, level, where);
      t.listed.in.store(level);
      if (t.level.load() == level) return true;
      unlink_high(t);
    } else {
      const int index = -1 - level;
      std::lock_guard hold(piles_[rank].lock);
      link_low(t, rank, index, where);
      t.listed.in.store(low_list(rank, index));
      if (t.level.load() == level) return true;
      unlink_low(piles_[rank], t);
    }
  }
}

bool priorities::remove(thread& t) noexcept {
  for (;;) {
    const int list = t.listed.in.load();
    if (list == 0) return false;
    if (list > 0) {
      std::lock_guard hold(high_lock_);
      if (t.listed.in.load() != list) continue;
      unlink_high(t);
    } else {
      pile& from = piles_[static_cast<unsigned>(-1 - list) / low_levels];
      std::lock_guard hold(from.lock);
      if (t.listed.in.load() != list) continue;
      unlink_low(from, t);
    }
    return true;
  }
}

// --- above normal --------------------------------------------------------------------------------------------------

void priorities::link_high(thread& t, int level, position where) noexcept {
  high_queue& q = queues_[level - 1];
  if (where == position::back) q.push_front(t);
  else q.push_back(t);
  high_.fetch_or(std::uint32_t{1} << (level - 1));  // a full fence: the caller looks for sleepers after it
}

void priorities::unlink_high(thread& t) noexcept {
  const int level = t.listed.in.load(std::memory_order_relaxed);  // under high_lock_
  high_queue& q = queues_[level - 1];
  q.remove(t);
  if (q.empty()) high_.fetch_and(~(std::uint32_t{1} << (level - 1)));
  t.listed.in.store(0);
}

thread* priorities::take_high(int least) noexcept {
  if (!any_high(least)) return nullptr;
  std::lock_guard hold(high_lock_);
  const std::uint32_t levels = high_.load(std::memory_order_relaxed);  // under high_lock_
  const int level = static_cast<int>(std::bit_width(levels));
  if (level < least) return nullptr;
  thread* t = queues_[level - 1].front();
  unlink_high(*t);
  return t;
}

// --- below normal --------------------------------------------------------------------------------------------------

void priorities::link_low(thread& t, unsigned rank, int index, position where) noexcept {
  pile& to = piles_[rank];
  pile::ends& e = to.levels[index];
  thread* const newest = e.newest.load(std::memory_order_relaxed);  // under the pile's lock, as all below
  if (newest == nullptr) {
    t.next = t.listed.newer = nullptr;
    e.oldest = &t;
    e.newest.store(&t, std::memory_order_relaxed);  // under the lock
  } else if (where == position::behind) {
    t.next = nullptr;
    t.listed.newer = e.oldest;
    e.oldest->next = &t;
    e.oldest = &t;
  } else {
    t.next = newest;
    t.listed.newer = nullptr;
    newest->listed.newer = &t;
    e.newest.store(&t, std::memory_order_relaxed);  // under the lock
  }
  e.count.store(e.count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // under the lock
  const thread* const oldest = to.by_age.front();
  if (where == position::back && (oldest == nullptr || t.listed.ready_since <= oldest->listed.ready_since))
    to.by_age.push_front(t);
  else to.by_age.push_back(t);
  to.oldest_since.store(to.by_age.front()->listed.ready_since, std::memory_order_relaxed);  // under the lock
  low_[index].fetch_add(1);  // a full fence: the caller looks for sleepers after it
}

void priorities::unlink_low(pile& from, thread& t) noexcept {
  // under the pile's lock, as all below
  const int index = (-1 - t.listed.in.load(std::memory_order_relaxed)) % low_levels;
  pile::ends& e = from.levels[index];
  if (t.listed.newer != nullptr) t.listed.newer->next = t.next;
  else e.newest.store(t.next, std::memory_order_relaxed);  // under the lock
  if (t.next != nullptr) t.next->listed.newer = t.listed.newer;
  else e.oldest = t.listed.newer;
  e.count.store(e.count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);  // under the lock
  from.by_age.remove(t);
  // under the lock
  from.oldest_since.store(from.by_age.empty() ? never : from.by_age.front()->listed.ready_since,
                          std::memory_order_relaxed);
  low_[index].fetch_sub(1);
  t.listed.in.store(0);
}

bool priorities::any_low(int least) const noexcept {
  for (int index = 0; index <= -1 - least; ++index) {
    if (low_[index].load(std::memory_order_relaxed) > 0) return true;  // a hint, or ordered by the caller's heavy fence
  }
  return false;
}

thread* priorities::take_from(unsigned rank, int index, bool own) noexcept {
  pile& from = piles_[rank];
  pile::ends& e = from.levels[index];
  // a hint; low_ tells the caller to try again
  if (e.newest.load(std::memory_order_relaxed) == nullptr) return nullptr;
  std::lock_guard hold(from.lock);
  thread* t = e.newest.load(std::memory_order_relaxed);  // under the pile's lock
  if (t == nullptr) return nullptr;
  if (!own || ++from.taken % oldest_every == 0) t = e.oldest;
  unlink_low(from, *t);
  return t;
}

thread* priorities::take_low(unsigned rank, int least, bool even) noexcept {
  for (int index = 0; index <= -1 - least; ++index) {
    if (low_[index].load(std::memory_order_relaxed) <= 0) continue;  // a hint
    unsigned first = rank;
    if (even) {
      unsigned most = piles_[rank].levels[index].count.load(std::memory_order_relaxed) + 1;  // hints
      for (unsigned r = 0; r < workers_; ++r) {
        const unsigned there = piles_[r].levels[index].count.load(std::memory_order_relaxed);
        if (there <= most) continue;
        most = there;
        first = r;
      }
    }
    if (first != rank) {
      if (thread* t = take_from(first, index, false); t != nullptr) return t;
    }
    for (unsigned i = 0; i < workers_; ++i) {
      if (thread* t = take_from((rank + i) % workers_, index, i == 0); t != nullptr) return t;
    }
  }
  return nullptr;
}

// --- threads that have waited for long -----------------------------------------------------------------------------

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
    thread* oldest = nullptr;
    for (const high_queue& q : queues_) {
      if (q.empty() || q.front()->listed.ready_since >= since) continue;
      oldest = q.front();
      since = oldest->listed.ready_since;
    }
    if (oldest != nullptr) {
      unlink_high(*oldest);
      return oldest;
    }
  }
  if (found == nullptr) return nullptr;
  std::lock_guard hold(found->lock);
  thread* t = found->by_age.front();
  if (t == nullptr || t->listed.ready_since >= limit) return nullptr;  // another worker was here
  unlink_low(*found, *t);
  return t;
}

}  // namespace heddle::worker

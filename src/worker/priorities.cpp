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

void priorities::push_high(thread& t) noexcept {
  std::lock_guard hold(high_lock_);
  high_queue& q = queues_[t.level - 1];
  t.next = nullptr;
  (q.first == nullptr ? q.first : q.last->next) = &t;
  q.last = &t;
  high_.fetch_or(std::uint32_t{1} << (t.level - 1));  // a full fence: the caller looks for sleepers after it
}

thread* priorities::take_high(int least) noexcept {
  if (!any_high(least)) return nullptr;
  std::lock_guard hold(high_lock_);
  const std::uint32_t levels = high_.load(std::memory_order_relaxed);  // under high_lock_
  const int level = static_cast<int>(std::bit_width(levels));
  if (level < least) return nullptr;
  high_queue& q = queues_[level - 1];
  thread* t = q.first;
  q.first = t->next;
  if (q.first == nullptr) high_.fetch_and(~(std::uint32_t{1} << (level - 1)));
  return t;
}

void priorities::push_low(thread& t, unsigned rank, bool behind) noexcept {
  const int index = -1 - t.level;
  pile& to = piles_[rank];
  std::lock_guard hold(to.lock);
  pile::ends& e = to.levels[index];
  thread* const newest = e.newest.load(std::memory_order_relaxed);  // under the pile's lock
  if (newest == nullptr) {
    t.next = t.newer = nullptr;
    e.oldest = &t;
    e.newest.store(&t, std::memory_order_relaxed);  // as above
  } else if (behind) {
    t.next = nullptr;
    t.newer = e.oldest;
    e.oldest->next = &t;
    e.oldest = &t;
  } else {
    t.next = newest;
    t.newer = nullptr;
    newest->newer = &t;
    e.newest.store(&t, std::memory_order_relaxed);  // as above
  }
  low_[index].fetch_add(1);  // a full fence: the caller looks for sleepers after it
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
  if (t->newer != nullptr) t->newer->next = t->next;
  else e.newest.store(t->next, std::memory_order_relaxed);  // as above
  if (t->next != nullptr) t->next->newer = t->newer;
  else e.oldest = t->newer;
  low_[index].fetch_sub(1);
  return t;
}

thread* priorities::take_low(unsigned rank, int least) noexcept {
  for (int index = 0; index <= -1 - least; ++index) {
    if (low_[index].load(std::memory_order_relaxed) <= 0) continue;  // a hint
    for (unsigned i = 0; i < workers_; ++i) {
      if (thread* t = take_from(piles_[(rank + i) % workers_], index, i == 0); t != nullptr) return t;
    }
  }
  return nullptr;
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

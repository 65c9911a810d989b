#include "worker/order/precedence.hpp"

#include <stdexcept>
#include <string>

#include "platform/platform.hpp"
#include "worker/order/inheritance.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"

namespace heddle::worker {

using fiber::thread;

void precedence::use(priority level) {
  const int number = static_cast<int>(level);
  if (number < lowest_level || number > highest_level) {
    throw std::invalid_argument("heddle: priority " + std::to_string(number) + ": expected " +
                                std::to_string(lowest_level) + " (lowest) to " + std::to_string(highest_level) +
                                " (highest), 0 is normal");
  }
  if (number == 0 || used_.load()) return;
  const section inside;
  capacity_.expect_special_threads();
  use_levels();
  decides_.store(true);
  used_.store(true);
}

// Everything here is a hint: a tick that comes to another thread, or not at all, changes when the level is served, not
// whether it is ([priority:4]).
worker* precedence::lowest_below(int level) const noexcept {
  worker* lowest = nullptr;
  for (const auto& w : workers_) {
    const int its = w->ticking.evict_below.load(std::memory_order_relaxed);  // a hint
    if (its >= level) continue;
    level = its;
    lowest = w.get();
  }
  return lowest;
}

bool precedence::any_low_beside(const worker& maker) const noexcept {
  if (workers_.size() == 1) return false;
  if (lists_.any_low(lowest_level)) return true;
  for (const auto& w : workers_) {
    if (w.get() != &maker && w->ticking.runs_low.load()) return true;  // after the look into the lists
  }
  return false;
}

bool precedence::any_above(int level) const noexcept {
  return lists_.any_high(std::max(level + 1, 1)) || (level < 0 && !inbox_.empty());
}

// [evict:1] The caller has put the thread into the inbox or into a list.
void precedence::evict_for(int level) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with go_on's: it sees the thread, or is seen
  if (sleepers_.idle().anyone_asleep() || sleepers_.idle().anyone_searching()) return;  // woken, or about to look
  if (worker* w = lowest_below(level); w != nullptr) return evict_from(*w, level);
  // There is no other worker. Perhaps the caller itself goes on at a lower level.
  worker* w = worker::current_or_null();
  if (w == nullptr || &w->home.precedence() != this || !w->runs_below(level)) return;
  w->current_thread()->preemptive->pending.store(true, std::memory_order_relaxed);  // read by itself
}

void precedence::evict_from(worker& w, int level) noexcept {
  if (w.ticking.evict_below.load(std::memory_order_relaxed) < level) {  // a hint
    // The next tick is for another thread.
    w.ticking.evict_below.store(worker::not_evictable, std::memory_order_relaxed);
    if (const int id = w.ticking.kernel_thread.load(std::memory_order_relaxed); id != 0)
      platform::send_tick(id);  // a hint
  } else if (worker::current_or_null() == &w && w.runs_below(level)) {
    w.current_thread()->preemptive->pending.store(true, std::memory_order_relaxed);  // read by itself
  }
}

// [inherit:4]. The thread may be ready, running or waiting; its level has been written. Under the lock of inheritance.
void precedence::level_was_raised(thread& t, int before) noexcept {
  if (lists_.remove(t)) {
    if (!lists_.push(t, static_cast<unsigned>(t.id % workers_.size()), position::back)) inbox_.push(t);
    sources::level_threads::announce(*t.home, 0);
    return evict_for(t.level.load());
  }
  // The code that is about to put the thread into a list looks at its level once more (priorities::push).
  if (before != 0 && !t.ties.belongs.is_pinned()) return;
  // It may be among a worker's ready threads, or in the inbox: a worker takes it out at its next choice (sort_ready),
  // which a tick brings about.
  raised_.fetch_add(1);
  const int level = t.level.load();
  for (const auto& w : workers_) {
    if (w->ticking.evict_below.load(std::memory_order_relaxed) >= level) continue;  // a hint, as is the next load
    if (const int id = w->ticking.kernel_thread.load(std::memory_order_relaxed); id != 0) platform::send_tick(id);
  }
}

}  // namespace heddle::worker

// Pinned threads: where they stand while they are ready, and when they are chosen: pinned.md.
#include "worker/gangs/pinned.hpp"

#include <mutex>
#include <stdexcept>
#include <string>

#include "platform/platform.hpp"
#include "worker/gangs/gangs.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

// --- the list of one worker ----------------------------------------------------------------------------------------

// Under lock_. The level is read there. The code that raises it counts that up afterwards
// (precedence::level_was_raised), and the worker, once it has seen the count, sorts. If the worker sorts before this,
// the level is seen here.
void pinned_threads::link(thread& t, bool in_front) noexcept {
  const bool seated = t.ties.belongs.is_seated();
  const auto index = seated ? count : static_cast<unsigned>(t.level.load() - none - 1);
  if (seated) t.listed.seat->listed = true;
  if (in_front) queues_[index].push_front(t);
  else queues_[index].push_back(t);
  levels_.fetch_or(std::uint32_t{1} << index);
}

void pinned_threads::unlink(thread& t, unsigned index) noexcept {
  queues_[index].remove(t);
  if (queues_[index].empty()) levels_.fetch_and(~(std::uint32_t{1} << index));
  if (index == count) t.listed.seat->listed = false;
}

bool pinned_threads::remove(thread& t) noexcept {
  std::lock_guard hold(lock_);
  if (!t.listed.seat->listed) return false;
  unlink(t, count);
  return true;
}

bool pinned_threads::has(const thread& t) noexcept {
  std::lock_guard hold(lock_);
  return t.listed.seat->listed;
}

void pinned_threads::push(thread& t, bool in_front) noexcept {
  if (!in_front) t.listed.ready_since = platform::cycles();
  std::lock_guard hold(lock_);
  link(t, in_front);
}

thread* pinned_threads::take(int least, int most) noexcept {
  if (highest(most) < least) return nullptr;
  std::lock_guard hold(lock_);
  const int level = highest(most);
  if (level < least) return nullptr;
  const auto index = static_cast<unsigned>(level - none - 1);  // of gangs: count
  thread* const t = queues_[index].front();
  unlink(*t, index);
  return t;
}

thread* pinned_threads::take_starved(std::uint64_t limit) noexcept {
  if (empty()) return nullptr;
  std::lock_guard hold(lock_);
  thread* oldest = nullptr;
  unsigned its = 0;
  for (unsigned index = 0; index < count; ++index) {
    thread* const t = queues_[index].front();
    if (t == nullptr || static_cast<int>(index) + none + 1 == 0 || t->listed.ready_since >= limit) continue;
    limit = t->listed.ready_since;
    oldest = t;
    its = index;
  }
  if (oldest != nullptr) unlink(*oldest, its);
  return oldest;
}

void pinned_threads::sort() noexcept {
  if (empty()) return;
  std::lock_guard hold(lock_);
  for (unsigned index = 0; index < count; ++index) {
    for (thread* t = queues_[index].front(); t != nullptr;) {
      thread* const behind = t->next;
      if (t->level.load() - none - 1 != static_cast<int>(index)) {
        unlink(*t, index);
        link(*t, false);
      }
      t = behind;
    }
  }
}

// --- choosing them -------------------------------------------------------------------------------------------------

int worker_agenda::pinned_level() noexcept {
  const int level = pinned.highest(most_pinned_);
  if (level != pinned_threads::none) [[unlikely]]
    preempts = true;  // from here on everything made here is looked at, and its maker: [pin:2]
  return level;
}

thread* worker_agenda::take_pinned(int least) noexcept {
  return pinned_level() < least ? nullptr : pinned.take(least, most_pinned_);
}

// Above normal: the threads of all workers and this worker's own; of equals, alternately.
thread* worker_agenda::take_high(int least) noexcept {
  const int mine = pinned_level();
  if (mine < least) [[likely]]
    return home.levels().take_high(least);
  pinned_next_ = !pinned_next_;
  if (thread* t = home.levels().take_high(pinned_next_ ? mine + 1 : mine); t != nullptr) return t;
  return take_pinned(least);
}

// Threads of gangs always ([gang:5]). Of the normal level: every other choice, so that neither kind keeps the other
// waiting.
thread* worker_agenda::take_pinned_alternating() noexcept {
  const int level = pinned_level();
  if (level < 0) [[likely]]
    return nullptr;
  if (level == pinned_threads::gangs) return take_pinned(level);
  pinned_next_ = !pinned_next_;
  return pinned_next_ ? take_pinned(0) : nullptr;
}

thread* worker_agenda::take_low(int least, bool even) noexcept {
  const int mine = pinned_level();
  if (mine >= least && (mine >= -1 || !home.levels().any_low(mine + 1))) {
    if (thread* t = take_pinned(least); t != nullptr) return t;
  }
  ticking.runs_low.store(true);  // before the list lacks it
  return home.levels().take_low(rank, least, even);
}

// After the push. The worker may be inactive.
void wake_for_pinned(worker& w) noexcept {
  if (w.inactive.load() % 2 != 0) {
    w.inactive.fetch_add(2);
    platform::wake_all(w.inactive);
  }
  w.home.sleepers().unpark(w.rank);
}

// [pin:3]. Also if the worker runs: then it is awake, and chooses when the running thread lets it.
void make_pinned_ready(thread& t, bool ends_slice) noexcept {
  if (t.ties.belongs.is_seated()) return t.home->gangs().make_ready(t);
  push_pinned(t, ends_slice);
}

void push_pinned(thread& t, bool ends_slice) noexcept {
  runtime& home = *t.home;
  const bool seated = t.ties.belongs.is_seated();
  const int level = seated ? pinned_threads::gangs : t.level.load();
  worker& w = home.at(t.ties.belongs.rank());
  w.pinned.push(t, false);
  sources::pinned_here::announce(w);
  if (seated && !w.idle.load()) sources::gang_threads::announce(home, w.rank);
  if (!ends_slice && (seated || home.precedence().is_used())) home.precedence().evict_from(w, level);
}

// --- their making --------------------------------------------------------------------------------------------------

void precedence::expect_pinned(unsigned rank) {
  if (rank >= workers_.size() || rank >= fiber::belonging::limit) {
    throw std::invalid_argument("heddle: thread_options::worker " + std::to_string(rank) + ": expected 0 to " +
                                std::to_string(workers_.size() - 1) + ", or any_worker");
  }
  if (decides_.load()) return;
  const section inside;
  capacity_.expect_special_threads();
  decides_.store(true);
}

}  // namespace heddle::worker

// The choice of what a worker runs next, beyond the short path of inline.hpp: "What runs next" in run_loop.md. Levels
// and pools are described in priorities.md and packing.md.
#include <algorithm>
#include <utility>

#include "platform/platform.hpp"
#include "worker/inline.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

namespace {

entry entry_or_none(thread* t) noexcept { return t != nullptr ? ready_entry(*t) : 0; }

constexpr std::uint64_t uncounted = 1;       // in place of a pick's number, where the pick is part of another choice
constexpr unsigned look_at_clock_every = 8;  // picks, where there are priorities: for threads that have waited for long

}  // namespace

// The thread's time slice has ended. It still runs on this worker.
entry worker_agenda::pick_after_tick(const thread& self) noexcept {
  looks_elsewhere_ = false;
  slice_level_ = 0;
  if (self.ties.belongs.is_seated()) [[unlikely]] {
    switch (home.gangs().tick(self)) {
      case gangs::after_tick::none: looks_elsewhere_ = true; return 0;
      case gangs::after_tick::siblings:
        if (thread* t = take_pinned(pinned_threads::gangs); t != nullptr) return ready_entry(*t);
        return 0;
      case gangs::after_tick::anybody: {
        most_pinned_ = pinned_threads::gangs - 1;  // [gang:13]: its siblings have had their time slices
        const entry item = pick_other_after_tick(self);
        most_pinned_ = pinned_threads::gangs;
        if (item != 0) return item;
        thread* t = take_pinned(pinned_threads::gangs);
        return t != nullptr ? ready_entry(*t) : 0;
      }
    }
  }
  return pick_other_after_tick(self);
}

entry worker_agenda::pick_other_after_tick(const thread& self) noexcept {
  if (is_inactive()) return 0;
  if (home.precedence().is_used()) [[unlikely]] {
    if (protects_slice()) return 0;
    aging_.end_slice();
    if (raised_seen_ != home.precedence().raised()) sort_ready();
    home.time().fire();  // perhaps of a thread of a high level that slept
    if (const entry item = pick_starved(&self); item != 0) return item;
    if (thread* t = take_high(std::max<int>(self.level.load(), 1)); t != nullptr) return ready_entry(*t);
    if (self.level.load() > 0) return 0;
    aging_.normal_has_its_slice();
  }
  if (const entry item = pick_alternating(self.level.load() == 0); item != 0) return item;
  // The same as pick() from here on, but not counted, because the time slice changes only if a carrier can be had.
  // seen at the next look
  const bool specially = (picks_specially.load(std::memory_order_relaxed) & special_threads) != 0;
  if (const entry item = specially ? pick_specially(&self, uncounted) : take_newest(); item != 0) return item;
  // Where many threads share a worker, one shall come over here. It comes to the inbox when that worker makes its next
  // thread ready.
  for (unsigned r = 0; r < home.workers(); ++r) {
    if (home.host().may_rob(rank, r) && !home.at(r).ready.looks_empty()) queue::request(home.at(r));
  }
  return 0;
}

// Ready threads and the other sources at hand take turns, because all ready threads may spin for a spawner's
// continuation in a queue. An entry that was taken from a queue comes back among the ready threads, if at all. So a
// queue that is not filled any more is emptied, whatever its order. If `evens`, the worker also takes from another
// worker at which more threads wait for their time slices.
entry worker_agenda::pick_alternating(bool evens) noexcept {
  if (thread* t = take_pinned_alternating(); t != nullptr) return ready_entry(*t);
  queue_first_ = !queue_first_;
  if (queue_first_) {
    if (const entry item = sources::take<sources::after_slice>(whole()); item != 0) return item;
    // The threads whose time slices alternate here may all be in system calls.
    if (home.substitutes().helps_at_ticks(whole())) [[unlikely]] {
      if (const entry item = home.substitutes().rob(whole()); item != 0) return item;
    }
  }
  // work from outside comes first, or it would wait as long as there is something to even out
  if (evens && !sources::any<sources::unchosen>(whole())) {
    home.time().fire();
    if (thread* t = take_over_slice(); t != nullptr) return ready_entry(*t);
  }
  if (const entry item = pick_fairly(); item != 0) return item;
  thread* t = take_pinned(0);
  return t != nullptr ? ready_entry(*t) : 0;
}

// Takes an entry that has been ready for so long that it has a time slice before all that is above it: [aging:1] to
// [aging:5] of priorities.md. It takes no more than one in so many time slices, however many wait. The others belong to
// what is above.
entry worker_agenda::pick_starved(const thread* stays) noexcept {
  const std::uint64_t longest_wait = home.precedence().longest_wait();
  if (longest_wait == 0) return 0;
  const std::uint64_t now = platform::cycles();
  if (!aging_.is_due(now, longest_wait)) return 0;
  bool displaces = stays != nullptr;
  entry item = 0;
  thread* t = pinned_level() != pinned_threads::none ? pinned.take_starved(now - longest_wait) : nullptr;
  if (t == nullptr) {
    if (home.levels().any_low(lowest_level)) ticking.runs_low.store(true);  // before the list lacks it
    t = home.levels().take_starved(now - longest_wait);
  }
  if (t != nullptr) {
    const std::int8_t level = t->level.load();
    displaces = (stays != nullptr && stays->level.load() > level) || home.levels().any_high(std::max(level + 1, 1)) ||
                pinned.highest() > std::max<int>(level, 0) || (level < 0 && !ready.looks_empty());
    if (level < 0) slice_level_ = level;
    item = ready_entry(*t);
  } else if (aging_.takes_normal(now, longest_wait)) {
    item = pick_alternating(true);
    if (item == 0) item = pick_alternating(true);  // it was the time slice of the other kind
    displaces = displaces || home.levels().any_high(1) || pinned.highest() > 0;
  }
  if (item == 0) return 0;
  // the time slice is protected for half an interval, and then until the next tick
  aging_.begin_slice(now + longest_wait, displaces ? now + longest_wait / home.options().aging / 2 : 0);
  return item;
}

// [gang:9]: the thread that ran here waits from now on, unless it stays or has ended.
void worker_agenda::leave_to_gangs(const thread* stays) noexcept {
  thread* const self = current_thread();
  if (stays == nullptr && self != nullptr && self->ties.belongs.is_seated()) home.gangs().wait(*self);
}

// The choice where a policy wants to be asked first, or threads are packed, pinned or have levels.
entry worker_agenda::pick_specially(const thread* stays, std::uint64_t count) noexcept {
  looks_elsewhere_ = false;
  slice_level_ = 0;
  if (stays == nullptr && ticking.runs_low.load(std::memory_order_relaxed))  // its own
    ticking.runs_low.store(false, std::memory_order_relaxed);                // a hint
  if (is_inactive()) return 0;
  if (drives != nullptr) {
    drives->beneath->count_pick();  // progress of the outer runtime, for its watchdog
    if (count % fairness_interval == 0 && drives->of.must_leave(*drives)) leaves_ = true;
  }
  if (leaves_) [[unlikely]] {  // [arena:5]
    looks_elsewhere_ = true;
    return 0;
  }
  // A foreign kernel thread carries the worker. It chooses nothing and gives the worker back, even if its thread
  // yields.
  if (caller_run.own_carrier != nullptr && !pinned.empty()) [[unlikely]] {  // [pin:4]
    caller_run.wants_own_carrier = looks_elsewhere_ = true;
    return 0;
  }
  const int level = stays != nullptr ? stays->level.load() : lowest_level;
  if (home.precedence().is_used()) {
    aging_.end_slice();
    if (raised_seen_ != home.precedence().raised()) sort_ready();
    if (count % look_at_clock_every == 0) {
      if (const entry item = pick_starved(stays); item != 0) return item;
    }
    if (thread* t = take_high(std::max(level, 1)); t != nullptr) {
      if (running == nullptr && !ready.looks_empty()) tell_of_ready();  // as below
      return ready_entry(*t);
    }
    if (level > 0) return 0;
    aging_.normal_has_its_slice();
  }
  if (thread* t = take_pinned_alternating(); t != nullptr) {
    if (running == nullptr && !ready.looks_empty()) tell_of_ready();  // they counted on being next: will_pick
    return ready_entry(*t);
  }
  if (count != uncounted && is_fair_choice(count)) {
    note_fair_choice(count);
    if (const entry item = pick_fairly(); item != 0) return item;
  }
  if (const entry item = sources::take<sources::choice>(whole()); item != 0) return item;
  if (thread* t = take_pinned(0); t != nullptr) return ready_entry(*t);
  // Threads below normal run only when the other workers have nothing better. The run loop finds that out, and then
  // takes from below normal itself.
  if (stays == nullptr || level == 0 || !home.precedence().is_used()) return 0;
  looks_elsewhere_ = home.host().scheduler_policy().may_find(rank) || sources::any<sources::unchosen>(whole());
  if (looks_elsewhere_) return 0;
  thread* t = take_low(level, true);
  if (t == nullptr) return 0;
  slice_level_ = t->level.load();
  return ready_entry(*t);
}

// Of the threads whose time limits have passed, the first runs at once, but not at two fair choices in a row. The
// others come after what is ready here.
entry worker_agenda::take_due() noexcept {
  took_due_ = !took_due_ && home.time().is_due();
  thread* first = nullptr;
  if (took_due_ && !queues_specially.load(std::memory_order_relaxed)) {  // as in make_ready
    if (detail::waiter* const due = home.time().timers().claim_due(platform::now()); due != nullptr)
      first = take_resumed(*due);
  }
  home.time().fire();
  return entry_or_none(first);
}

// From time to time work from outside goes first, so that jobs that make jobs do not starve threads.
entry worker_agenda::pick_fairly() noexcept {
  if (const entry item = take_due(); item != 0) return item;
  // every other time, or a mailbox that is filled again and again would keep the inbox waiting
  const std::uint64_t number = ++fair_choices_;
  if (number % 2 == 0) {
    if (const entry item = sources::take<sources::fair_alternately>(whole()); item != 0) return item;
  } else if (number % 4 == 3 && caller_run.own_carrier == nullptr) {  // a foreign kernel thread would not come back
    if (const entry item = sources::take<sources::fair_to_arenas>(whole()); item != 0) return item;
  }
  if (home.pollers().are_wanted() && stands_in == nullptr) [[unlikely]] {
    if (const entry item = home.pollers().ask_fairly(whole()); item != 0) return item;
  }
  return sources::take<sources::fair_choice>(whole());
}

// While threads are packed, threads that stand elsewhere go to their pools first.
thread* worker_agenda::pick_packed() noexcept {
  packing& pools = home.capacity().pools();
  while (thread* t = ready.pop()) {
    if (!t->ties.belongs.is_known()) t->ties.belongs.set_pool(rank);
    if (!pools.put(*t, t->ties.belongs.rank())) return t;
  }
  for (thread* chain = home.incoming().take_all(); chain != nullptr;) {
    thread& t = *chain;
    chain = t.next;
    if (!t.ties.belongs.is_known()) t.ties.belongs.set_pool(pools.deal());
    if (!pools.put(t, t.ties.belongs.rank())) ready.push(t);  // packing is over
    else if (chain != nullptr) sources::pool_threads::announce(home, rank);
  }
  return pools.take(rank, of_pool_);
}

thread* worker_agenda::take_from_any_pool() noexcept { return home.capacity().pools().take_any(rank, of_pool_); }

// The inbox and the ready threads take turns while there are both, because there may be many ready threads, or few that
// compute for long. The inbox comes first unless it did the last time. A thread that is not chosen stays in the inbox:
// among the ready threads it would stand behind all of them.
thread* worker_agenda::adopt_inbox_at_fair_choice() noexcept {
  if (!std::exchange(took_inbox_, false) || ready.looks_empty()) {
    if (thread* t = adopt_inbox(); t != nullptr) {
      took_inbox_ = true;
      return t;
    }
  }
  thread* const t = ready.pop();
  return t != nullptr ? t : adopt_inbox();
}

thread* worker_agenda::adopt_inbox() noexcept {
  if (raised_seen_ != home.precedence().raised()) [[unlikely]]
    sort_ready();
  thread* chain = home.incoming().take_all();
  if (chain == nullptr) return nullptr;
  thread* first = chain;
  chain = chain->next;
  const bool more = chain != nullptr;
  while (chain != nullptr) {
    thread* t = chain;
    chain = t->next;
    ready.push(*t);
  }
  if (more) sources::ready_threads::announce(whole());
  return first;
}

entry worker_agenda::take_submitted() noexcept {
  heddle::job* const work = home.jobs().take();
  return work == nullptr ? 0 : detail::entry_of(detail::submitted::word(*work));
}

entry worker_agenda::take_driver() noexcept {
  driver* const d = home.drivers().take(rank);
  return d == nullptr ? 0 : detail::entry_of(d);
}

}  // namespace heddle::worker

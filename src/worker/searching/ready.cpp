// Where a thread that becomes ready goes: to its worker's ready threads, the inbox, its level, or its pool. This file
// also holds what a worker gives up to others.
#include "trace/emit.hpp"
#include "worker/inline.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

bool worker_agenda::make_ready_specially(thread& t, bool ends_slice) noexcept {
  if (t.ties.belongs.is_pinned()) {
    make_pinned_ready(t, ends_slice);
    return true;
  }
  const int level = t.level.load();
  packing& pools = home.capacity().pools();
  const bool listed =
      level != 0 &&
      home.levels().push(
          t, rank, ends_slice && (looks_elsewhere_ || slice_level_ == level) ? position::behind : position::on_top);
  if (!listed && pools.in_force()) {
    // A thread that ran here when packing began belongs here, even if this worker is inactive. New ones are dealt out.
    if (!t.ties.belongs.is_known()) t.ties.belongs.set_pool(ends_slice ? rank : pools.deal());
    else if (ends_slice) t.ties.belongs.set_pool(pools.settle(t.ties.belongs.rank()));
    if (!pools.put(t, t.ties.belongs.rank())) return false;
    sources::pool_threads::announce(home, rank);
  } else if (!listed) {
    if (ends_slice || !home.precedence().is_used() || runs_below(level) || !home.precedence().any_low_beside(whole()))
      return false;
    // For a worker that runs something below its level, and does not look at the ready threads here: [evict:1].
    home.incoming().push(t);
    sources::inbox_threads::announce(home, rank);
  } else {
    sources::level_threads::announce(home, rank);
  }
  if (!ends_slice && home.precedence().is_used()) home.precedence().evict_for(level);
  return true;
}

void worker_agenda::put_back(thread& t) noexcept {
  aging_.take_slice_back();
  if (t.ties.belongs.is_pinned()) return pinned.push(t, true);  // to this worker, which has taken it
  if (home.levels().push(t, rank, position::back)) return;
  if (!home.capacity().pools().in_force() || !t.ties.belongs.is_known() ||
      !home.capacity().pools().put(t, t.ties.belongs.rank()))
    ready.push(t);
}

// make_ready where there are priorities or pools. If a thread stays here after all, and a preemptive thread below
// normal runs here, its time slice ends.
void worker_agenda::make_ready_slowly(thread& t) noexcept {
  if (make_ready_specially(t, false)) return;
  make_ready_here(t);
  if (runs_below(0)) current_thread()->preemptive->pending.store(true, std::memory_order_relaxed);  // read by itself
}

// The same, for a new thread. Where there are pinned threads only, its maker may still join it by a call.
void worker_agenda::make_new_ready_slowly(thread& t) noexcept {
  if (home.precedence().is_used() || home.capacity().pools().in_force()) return make_ready_slowly(t);
  if (make_ready_specially(t, false)) return;
  if (!ready.try_push_new(t)) return make_ready_later(t);
  tell_of_ready();
}

// A thread that is called may end on another worker, and its joiner goes on there: [pin:2].
bool worker_agenda::something_may_come_first() const noexcept {
  return !pinned.empty() || current_thread()->ties.belongs.is_pinned() || home.precedence().is_used() ||
         home.capacity().pools().in_force() || home.host().wants().picks;
}

void worker_agenda::make_ready_later(thread& t) noexcept {
  ready.push(t);
  tell_of_ready();
}

void worker_agenda::learn_from_join() noexcept { lone.learn_from_join(shared_new_at_); }

void worker_agenda::share_ready() noexcept {
  if (ready.has_one_new()) {
    if (lone.is_kept()) return sources::ready_threads::announce(whole());
    shared_new_at_ = platform::cycles();
  }
  thread* oldest = ready.pop();
  if (oldest == nullptr) return;                      // a visitor was quicker
  static_cast<void>(queue::withdraw_request(*this));  // announced below, in either case
  home.incoming().push(*oldest);
  sources::ready_threads::announce(whole());
}

void start_root(thread& t, const void* label, double work, std::size_t bytes) noexcept {
  if (t.home->host().wants().roots && t.level.load() == 0 && !t.ties.belongs.is_pinned()) [[unlikely]] {
    const worker* w = worker::current_or_null();
    const unsigned self = w != nullptr && &w->home == t.home ? w->rank : policy::nobody;
    const policy::task_info made{t.scheduling, nullptr, label, work, policy::not_given, bytes, 0, 0, nullptr};
    if (t.home->host().scheduler_policy().started(self, made) == policy::placement::send)
      return t.home->host().enqueue(self, t);
  }
  make_ready_anywhere(t);
}

void make_ready_anywhere(thread& t) noexcept {
  worker* w = worker::current_or_null();
  if (w != nullptr && &w->home != t.home) w = nullptr;
  if (t.scheduling.tag != nullptr) [[unlikely]] {
    const unsigned self = w != nullptr ? w->rank : policy::nobody;
    const policy::placement where = t.home->host().scheduler_policy().ready(self, t.scheduling);
    if (where == policy::placement::send && t.level.load() == 0 && !t.ties.belongs.is_pinned())
      return t.home->host().enqueue(self, t);
  }
  if (w != nullptr) w->make_ready(t);
  else t.home->submit(t);
}

void worker_agenda::queue_child(thread& t) noexcept {
  if (detail::push(ready_entry(t)) == nullptr) make_ready(t);
}

// The request that was answered stands again while a worker sleeps: [conserving:2], [wake:3].
void worker_agenda::announce_work() noexcept {
  if (queue::askers* all = home.host().askers_of_all(); all != nullptr) [[unlikely]]
    answer_askers(*all);
  home.sleepers().wake_thief_of(rank);
  if (home.sleepers().has_thief_of(rank)) queue::stand(*this);
}

void worker_agenda::announce_queued() noexcept { sources::own_queue::announce(whole()); }

void worker_agenda::announce_answer() noexcept {
  trace::emit<trace::event::request_answer>(ring);
  announce_queued();
}

}  // namespace heddle::worker

#include "worker/carriers/substitutes.hpp"

#include <new>
#include <utility>

#include "worker/carriers/handover.hpp"
#include "worker/diagnosis/faults.hpp"
#include "worker/inline.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"
#include "worker/time/timekeeping.hpp"

namespace heddle::worker {

namespace {

// How long a substitute looks for work before it gives its carrier back.
constexpr unsigned patience_us = 50;
// Ticks take a tenth of the time at most ([slice:5]), and interrupt a system call for a little longer than that.
constexpr unsigned most_of_ticks = 5;

int kernel_thread_of(const worker& w) noexcept {
  // numbers
  if (w.parker.is_with_caller()) return w.caller_run.kernel_thread.load(std::memory_order_relaxed);
  return w.ticking.kernel_thread.load(std::memory_order_relaxed);
}

}  // namespace

// --- a substitute --------------------------------------------------------------------------------------------------

// It rests. Each choice and each thread that becomes ready takes the slow path, where `inactive` and levels are looked
// at.
substitute::substitute(runtime& home, unsigned rank) : its(home, rank, -1, home.options().seed + rank) {
  const worker& like = home.at(rank);
  its.stands_in = this;
  its.watches_groups = like.watches_groups;
  its.queues_children = like.queues_children;
  its.queues_specially.store(true);
  its.pick_slowly(worker::special_threads, true);
  its.inactive.store(1);
}

void substitute::retire() noexcept {
  std::uint32_t seen = its.inactive.load();
  if (seen % 2 != 0 || !its.inactive.compare_exchange_strong(seen, seen + 1)) return;
  static_cast<void>(its.remind(~std::uint64_t{0}));
}

thread* worker::find_as_substitute() noexcept {
  const std::uint64_t limit = platform::cycles() + patience_us * platform::cycles_per_microsecond();
  while (!is_inactive() && !home.stopping()) {
    home.time().fire();
    if (const entry found = sources::take<sources::substitute>(*this, policy::effort::insist); found != 0) {
      home.time().delegate();  // [time:2]
      return thread_for(found);
    }
    if (platform::cycles() > limit) stands_in->retire();
    platform::yield_processor();
  }
  return nullptr;
}

// [substitute:4]. From the last store on the worker may have another carrier.
void worker::rest_as_substitute(carrier& mine) noexcept {
  give_away_all();
  sources::inbox_threads::announce(home, rank);
  home.time().delegate();  // [time:2]: what ran here may have armed a timer
  home.census().check_drained();
  while (carrier* const c = spares.take()) home.carriers().offer(*c);
  ticks::stop(mine);
  ticking.kernel_thread.store(0, std::memory_order_relaxed);  // a number
  mine.assigned = nullptr;
  stands_in->rests.store(true, std::memory_order_release);  // pairs with take_resting: all of the worker
}

// --- who sits in a system call -------------------------------------------------------------------------------------

substitutes::~substitutes() {
  // relaxed: nobody else uses the object any more
  for (substitute* s = first_.load(std::memory_order_relaxed); s != nullptr;) delete std::exchange(s, s->next);
}

// True if the worker has chosen nothing for the bound, and its kernel thread has used no processor time, but for ticks.
bool substitutes::sits(const worker& w, last_seen& seen, platform::nanoseconds now) const noexcept {
  const int id = kernel_thread_of(w);
  const std::uint64_t picks = w.picks.load(std::memory_order_relaxed);         // numbers
  const std::uint64_t ticks = w.counts.ticks.load(std::memory_order_relaxed);  // as above
  const platform::nanoseconds used = id == 0 ? 0 : platform::processor_time_of(id);
  if (used != 0 && seen.kernel_thread == id && seen.picks == picks) {
    const platform::nanoseconds passed = now - seen.since;
    if (used == seen.used || (ticks != seen.ticks && used - seen.used <= passed / most_of_ticks))
      return passed >= bound_;
  }
  seen = {id, picks, ticks, used, now};
  return false;
}

// A worker that is seen to compute ends the look, so that a busy runtime costs one system call; unless ticks may be
// what moves it.
bool substitutes::some_worker_is_free(platform::nanoseconds now) noexcept {
  const bool has_ticks = home_.creator().is_there();
  bool any = false, free = false, stands_still = false;
  for (unsigned r = 0; r < workers_.size() && (!free || has_ticks); ++r) {
    const worker& w = *workers_[r];
    if (w.is_inactive()) continue;
    any = true;
    const bool is_free = w.idle.load(std::memory_order_relaxed) || !sits(w, seen_[r], now);  // a hint
    free = free || is_free;
    stands_still = stands_still || (!is_free && sources::any_to_rob(w));
  }
  // relaxed: a hint
  if (has_ticks) work_stands_still_.store(stands_still && may_lend(), std::memory_order_relaxed);
  return free || !any;
}

// The kernel thread of a worker may have used no processor time because it has no processor.
bool substitutes::all_are_in_system_calls() const noexcept {
  for (const auto& w : workers_) {
    if (!w->is_inactive() && !platform::sleeps_in_system_call(kernel_thread_of(*w))) return false;
  }
  return true;
}

bool substitutes::something_waits() const noexcept {
  if (time_.is_due() || sources::any_common(*workers_.front())) return true;
  for (const auto& w : workers_) {
    if (sources::any_to_rob(*w)) return true;
  }
  return false;
}

// --- beginning and end
// -------------------------------------------------------------------------------------------------------

// A substitute has a rank that a worker has as well, so it must not act for the policy. Where one timer serves several
// workers, ranks say whose it is.
bool substitutes::may_lend() const noexcept {
  const policy::policy_wants& wants = home_.host().wants();
  const bool of_policy = wants.spawns || wants.forks || wants.groups || wants.roots || wants.picks || wants.limits ||
                         wants.preemptions || wants.usage || wants.iterations || wants.asks || wants.elapsed ||
                         wants.running;
  return !of_policy && !home_.capacity().pools().in_force() &&
         (!home_.creator().is_there() || home_.ticks().plan().from <= tick_plan::source::aligned);
}

bool substitutes::look(bool& busy) noexcept {
  if (bound_ == 0) return false;
  if (seen_.empty()) {
    try {
      seen_.resize(workers_.size());
    } catch (const std::bad_alloc&) {
      return false;  // no substitutes until there is memory
    }
  }
  const platform::nanoseconds now = platform::now();
  const bool free = some_worker_is_free(now);
  bool helps = false, keeps_work = false;
  for (substitute* s = first_.load(); s != nullptr; s = s->next) {
    if (s->rests.load()) continue;
    busy = true;
    // One that retires comes to no boundary, perhaps because it spins for what stands in its queue.
    if (!sits(s->its, s->seen, now) && !s->its.is_inactive()) helps = true;
    else keeps_work = keeps_work || sources::any_to_rob(s->its);
  }
  if (free && !keeps_work) {
    for (substitute* s = first_.load(); s != nullptr; s = s->next) s->retire();
    return false;
  }
  if (helps || (!keeps_work && !something_waits()) || !may_lend()) return false;
  if (!free && !all_are_in_system_calls()) return true;
  return lend();
}

substitute* substitutes::take_resting() noexcept {
  for (substitute* s = first_.load(); s != nullptr; s = s->next) {
    // pairs with rest_as_substitute: all of the worker
    if (s->rests.load(std::memory_order_acquire)) return s;
  }
  if (count_ == most_) return nullptr;
  try {
    auto* const fresh = new substitute(home_, count_ % static_cast<unsigned>(workers_.size()));
    ++count_;
    fresh->next = first_.load(std::memory_order_relaxed);  // the clock's own variable
    first_.store(fresh);
    return fresh;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Returns true in any case: the clock sees next what the substitute does.
bool substitutes::lend() noexcept {
  substitute* const s = take_resting();
  if (s == nullptr) return true;
  carrier* c = home_.carriers().take();
  if (c == nullptr && home_.creator().is_there()) home_.creator().want_carrier();
  else if (c == nullptr) c = home_.carriers().make();
  if (c == nullptr) return true;
  s->rests.store(false);
  s->its.inactive.fetch_add(1);
  s->seen = {};
  hand_over(s->its, *c);
  tell();
  return true;
}

// A kernel thread of its own prints the warning, because that waits for locks of the C library, which a thread that
// waits for a substitute may hold.
void substitutes::tell() noexcept {
  static std::atomic<bool> told{false};  // once a process
  if (platform::simulated || told.exchange(true)) return;
  const auto print = [](void* self) {
    auto& all = *static_cast<substitutes*>(self);
    tell_of_system_calls(all.home_, kernel_thread_of);
  };
  has_teller_.store(platform::start(teller_, print, this, "heddle-warning") == 0);
}

void substitutes::end() noexcept {
  if (has_teller_.load()) platform::join(teller_);
}

void substitutes::end_with_process() noexcept {
  const section inside;
  if (has_teller_.load()) static_cast<void>(platform::try_join(teller_));
}

// --- a substitute's search -----------------------------------------------------------------------------------------

entry substitutes::rob(worker& thief) noexcept {
  const auto take_from = [this, &thief](worker& from) -> entry {
    bool left = false;
    const entry item = queue::steal(from, left);
    return item != 0 ? item : home_.host().take_by_force(thief, from, platform::heavy_fence);
  };
  entry item = 0;
  const auto count = static_cast<unsigned>(workers_.size());
  const unsigned first = thief.random.below(count);
  for (unsigned i = 0; item == 0 && i < count; ++i) {
    worker& from = *workers_[(first + i) % count];
    if (&from != &thief) item = take_from(from);
  }
  for (substitute* s = first_.load(); item == 0 && s != nullptr; s = s->next) {
    if (&s->its != &thief) item = take_from(s->its);
  }
  if (item != 0) thief.counts.steals.fetch_add(1, std::memory_order_relaxed);  // a statistic
  return item;
}

}  // namespace heddle::worker

#include "worker/preemption/ticks.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "worker/preemption/klt_means.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

tick_plan tick_plan_from(const std::string& text, std::uint64_t interval) {
  using source = tick_plan::source;
  tick_plan plan;
  plan.interval = interval;
  if (text == "creation") plan.from = source::creation;
  else if (text == "aligned") plan.from = source::aligned;
  else if (text == "one-to-all") plan.from = source::one_to_all;
  else if (text == "chain") plan.from = source::chain;
  else if ((plan.timers = tick_source_named(text)) == nullptr) {
    plan.from = source::chain;
    const std::string number = text.starts_with("hybrid:") ? text.substr(7) : "";
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), plan.groups);
    if (number.empty() || error != std::errc() || end != number.data() + number.size() || plan.groups == 0) {
      throw std::invalid_argument(
          "expected creation, aligned, one-to-all, chain, uintr, or hybrid: and a number of groups");
    }
  }
  return plan;
}

ticks::ticks(const tick_plan& plan, unsigned workers)
    : plan_(plan),
      workers_(workers),
      group_size_((workers + std::max(plan.groups, 1u) - 1) / std::max(plan.groups, 1u)),
      begin_(platform::now()),
      owners_(new std::atomic<int>[workers]) {
  for (unsigned g = 0; g < workers; ++g) owners_[g].store(-1);
}

namespace {

std::atomic<bool> told{false};  // once a process

bool has_timer(carrier& c, const platform::tick_source* timers) noexcept {
  if (c.timer.id >= 0) return true;
  const char* const why = platform::make(c.timer, &c, timers);
  if (why == nullptr) return true;
  if (told.exchange(true)) return false;
  const auto say = [](const char* text) { platform::write_error(text, std::strlen(text)); };
  say("heddle: some preemptive threads keep their time slices: ");
  say(why);
  say("\n");
  return false;
}

}  // namespace

// First ticks lie on a grid that all workers share: phases stay apart however often a timer is stopped and started.
void ticks::start(worker& w, bool once, platform::nanoseconds not_before) noexcept {
  carrier& c = *w.by;
  if (!platform::arrives(c.timer)) platform::drop(c.timer);
  if (!has_timer(c, plan_.timers)) return;  // the next one that wants ticks tries again
  platform::nanoseconds phase = begin_;
  if (plan_.from == tick_plan::source::creation) phase = w.ticking.since;
  else if (plan_.from == tick_plan::source::aligned) phase += interval() * w.rank / workers_;
  else phase += interval() * group_of(w.rank) / ((workers_ + group_size_ - 1) / group_size_);
  const platform::nanoseconds now = std::max(platform::now(), not_before);
  c.short_slices = slices_are_short(w);
  const platform::nanoseconds interval = c.short_slices ? spinning_slice : this->interval();
  platform::nanoseconds first = now < phase ? phase : now + interval - (now - phase) % interval;
  if (c.short_slices) first = now + interval;  // phases are of no use where time slices begin at any time
  // relaxed, here and below: of this kernel thread and its handler
  c.ticks.store(once ? carrier::ticking::once : carrier::ticking::always, std::memory_order_relaxed);
  platform::set(c.timer, first, once ? 0 : interval);
}

void ticks::want(worker& w, bool once, platform::nanoseconds not_before) noexcept {
  if (per_worker()) {
    const carrier& c = *w.by;
    // relaxed: of this kernel thread
    if (c.ticks.load(std::memory_order_relaxed) == carrier::ticking::no || !platform::arrives(c.timer))
      start(w, once, not_before);
    return;
  }
  // [slice:1]: with an owner that gives up, in `came`, these are Dekker's two sides. The owner sees the wish, or we see
  // that there is no owner.
  if (!w.ticking.are_wanted.load(std::memory_order_relaxed)) w.ticking.are_wanted.store(true);  // relaxed: own variable
  std::atomic<int>& owner = owners_[group_of(w.rank)];
  const int now = owner.load();
  int nobody = -1;
  if (now < 0) {
    if (owner.compare_exchange_strong(nobody, static_cast<int>(w.rank))) start(w, false);
  } else if (now == static_cast<int>(w.rank) && !platform::arrives(w.by->timer)) {
    start(w, false);
  }
}

// The tick is sent after the change, so the kernel thread that handles it sees the new signal. If it finds a preemptive
// thread computing, or one in the runtime, that thread's next step to its own code makes the timer anew (want). A
// kernel thread that has no number is on its way there itself.
void ticks::come_by(runtime& home, int signal) noexcept {
  if (signal_.load(std::memory_order_relaxed) == signal) return;  // a number; the thread that changed it sent the ticks
  if (signal_.exchange(signal) == 0) return;
  for (unsigned r = 0; r < home.workers(); ++r) {
    // relaxed: as above
    const int to = home.at(r).ticking.kernel_thread.load(std::memory_order_relaxed);
    if (to != 0) platform::send_tick(to);
  }
}

// relaxed: the first is a hint to threads that send ticks; of the second only the worker itself makes its own rank come
// or go; the third is of this kernel thread
void ticks::took_over(worker& w) noexcept {
  w.ticking.kernel_thread.store(w.by->id, std::memory_order_relaxed);
  if (per_worker() || w.stands_in != nullptr ||
      owners_[group_of(w.rank)].load(std::memory_order_relaxed) != static_cast<int>(w.rank))
    return;
  // relaxed: see above
  if (w.by->ticks.load(std::memory_order_relaxed) == carrier::ticking::no) start(w, false);
}

void ticks::stop(carrier& c) noexcept {
  if (c.ticks.load(std::memory_order_relaxed) != carrier::ticking::always) return;  // of this kernel thread
  c.ticks.store(carrier::ticking::no, std::memory_order_relaxed);                   // as above
  platform::set(c.timer, 0, 0);
}

// Returns true if another worker in the group wants ticks.
bool ticks::pass_on(worker& w, bool by_timer) noexcept {
  const unsigned first = group_of(w.rank) * group_size_;
  const unsigned size = std::min(group_size_, workers_ - first);
  const int owner = owners_[group_of(w.rank)].load(std::memory_order_relaxed);  // a hint
  // the tick has come around, or was meant for another worker
  const bool end_of_chain = !by_timer && owner == static_cast<int>(w.rank);
  const unsigned start = owner >= 0 ? static_cast<unsigned>(owner) - first : 0;
  bool any = false;
  // From the worker after `w` around to the owner, which began the chain.
  for (unsigned i = w.rank - first + 1; i % size != start; ++i) {
    worker& next = w.home.at(first + i % size);
    if (!next.ticking.are_wanted.load()) continue;
    any = true;
    // relaxed: a hint to the worker that sends ticks
    if (const auto until = next.ticking.not_before.load(std::memory_order_relaxed);
        until != 0 && platform::now() < until)
      continue;
    // there only the owner passes on
    if (end_of_chain || (plan_.from == tick_plan::source::one_to_all && !by_timer)) break;
    const int to = next.ticking.kernel_thread.load(std::memory_order_relaxed);  // a hint
    if (to == 0) continue;
    platform::send_tick(to);
    if (plan_.from == tick_plan::source::chain) break;
  }
  return any;
}

// They are short only where some thread waits for a time slice, because elsewhere short ones are of no use.
bool ticks::slices_are_short(worker& w) const noexcept {
  const platform::nanoseconds spun = spun_at_.load(std::memory_order_relaxed);  // a hint
  if (spun == 0 || (per_worker() && w.ready.looks_empty())) return false;
  return platform::now() < spun + spinning_lasts;
}

void ticks::begin_slice(worker& w, fiber::preemptible& self) noexcept {
  if (!per_worker()) w.ticking.not_before.store(0, std::memory_order_relaxed);  // a hint
  self.slice_lasts_until = 0;
  const bool is_short = slices_are_short(w);
  // of this kernel thread
  if (is_short != w.by->short_slices && w.by->ticks.load(std::memory_order_relaxed) == carrier::ticking::always)
    start(w, false);
  const platform::nanoseconds interval = is_short ? spinning_slice : this->interval();
  if (platform::simulated) return;  // signals take no time there that a program's code would lack
  if (self.cut_calls == 0 || interval >= longest_stretch) {
    if (interval < short_interval) self.slice_lasts_until = platform::now() + interval / 2;
    return;
  }
  self.slice_lasts_until = platform::now() + std::min(interval << self.cut_calls, longest_stretch);
  if (!per_worker()) w.ticking.not_before.store(self.slice_lasts_until, std::memory_order_relaxed);  // a hint
  // A timer that ticks once is set by want. The early tick of one that goes on would cut the call short again.
  // relaxed: of this kernel thread
  if (w.by->ticks.load(std::memory_order_relaxed) == carrier::ticking::always) start(w, false, self.slice_lasts_until);
}

bool ticks::is_early(const fiber::preemptible& self, bool sent) const noexcept {
  if (self.slice_lasts_until == 0) return false;
  if (sent && per_worker()) return false;  // for the sake of a priority, or of a new carrier
  return platform::now() < self.slice_lasts_until;
}

void ticks::came(worker& w, bool by_timer, bool wanted) noexcept {
  w.counts.ticks.fetch_add(1, std::memory_order_relaxed);  // a statistic
  if (per_worker()) {
    if (!wanted) stop(*w.by);
    return;
  }
  if (!wanted) w.ticking.are_wanted.store(false);
  std::atomic<int>& owner = owners_[group_of(w.rank)];
  // only the worker makes its own rank come or go
  const bool mine = owner.load(std::memory_order_relaxed) == static_cast<int>(w.rank);
  if (by_timer && !mine) return stop(*w.by);
  const bool others = pass_on(w, by_timer);
  if (!mine || wanted || others) return;
  owner.store(-1);
  for (unsigned r = group_of(w.rank) * group_size_; r < workers_ && group_of(r) == group_of(w.rank); ++r) {
    int nobody = -1;
    if (!w.home.at(r).ticking.are_wanted.load()) continue;
    // [slice:1]: this worker came too late to see that there is no owner
    if (owner.compare_exchange_strong(nobody, static_cast<int>(w.rank))) return;
  }
  stop(*w.by);
}

void ticks::know_cost() noexcept {
  static std::atomic<bool> measured{false}, said{false};
  if (plan_.timers != nullptr || plan_.interval >= never_too_short) return;
  if (!measured.exchange(true)) {
    const platform::nanoseconds least = 10 * platform::cost_of_tick();
    least_interval_.store(std::min(least, never_too_short), std::memory_order_relaxed);  // a number
  }
  if (interval() == plan_.interval || said.exchange(true)) return;
  char text[200];
  const int length = std::snprintf(text, sizeof text,
                                   "heddle: a tick takes %llu us here, so time slices last %llu us and not %llu: "
                                   "ticks would take more than a tenth of the time\n",
                                   static_cast<unsigned long long>(interval() / 10'000),
                                   static_cast<unsigned long long>(interval() / 1'000),
                                   static_cast<unsigned long long>(plan_.interval / 1'000));
  platform::write_error(text, static_cast<std::size_t>(length));
}

}  // namespace heddle::worker

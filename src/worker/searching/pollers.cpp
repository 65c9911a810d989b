#include "worker/searching/pollers.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "base/contracts.hpp"
#include "worker/caller.hpp"
#include "worker/jobs.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"

namespace heddle::worker {

namespace {

constexpr platform::nanoseconds never = std::numeric_limits<platform::nanoseconds>::max();
// The picks from the end of an ask that finds nothing to the worker's next search: one by the thread that has asked,
// which ends, and one by the run loop.
constexpr std::uint64_t picks_after_ask = 2;

}  // namespace

// --- entering and leaving, wanting ---------------------------------------------------------------------------------

void pollers::start() {
  for (kernel_state found = none; !kernel_state_.compare_exchange_strong(found, being_made); found = none) {
    if (found == there) return;
    platform::yield_processor();
  }
  const auto keep = [](void* self) { static_cast<pollers*>(self)->keep_bounds(); };
  const int error = platform::start(kernel_, keep, this, "heddle-poller");
  kernel_state_.store(error == 0 ? there : none);
  if (error != 0) {
    throw std::system_error(
        std::error_code(error, std::generic_category()),
        std::string("heddle: no kernel thread that asks pollers: ") + platform::why_not_started(error).text);
  }
}

void pollers::enter(poller_state& p) noexcept {
  guard_.lock();
  all_.push_back(p);
  guard_.unlock();
}

bool pollers::leave(poller_state& p) noexcept {
  guard_.lock();
  all_.remove(p);
  if (p.wants.load() != 0) wanted_.fetch_sub(1);
  const bool waits = p.under_way;
  const void* const runner = p.runner.load();
  p.gone = waits && runner != nullptr && runner == running_here();
  const bool gone = p.gone;
  guard_.unlock();
  if (gone) return false;
  if (!waits) return true;
  detail::waiter w("poller");
  detail::suspend(
      w,
      [](void* data, detail::waiter& me) noexcept {
        auto& left = *static_cast<poller_state*>(data);
        detail::spin_word& guard = left.of.guard_;
        guard.lock();
        const bool waits = left.under_way;
        if (waits) left.ender = &me;
        guard.unlock();
        return waits;
      },
      &p);
  return true;
}

void pollers::want(poller_state& p) noexcept {
  if (p.wants.fetch_add(1) != 0) return;
  const platform::nanoseconds now = platform::now();
  p.asked_at.store(now);
  wanted_.fetch_add(1);
  // [poll:3]: this and the kernel thread's look at `wants`, after it has said when it looks again, are the two sides of
  // Dekker's algorithm
  if (looks_at_.load() > now + p.bound) wake();
}

void pollers::unwant(poller_state& p) noexcept {
  if (p.wants.fetch_sub(1) == 1) wanted_.fetch_sub(1);
}

// --- an ask ----------------------------------------------------------------------------------------------------------

// The caller is the thread that asks, or the kernel thread.
const void* pollers::running_here() const noexcept {
  if (const caller who = caller::now(); !who.is_foreign()) return &who.running();
  return platform::kernel_thread_id() == kernel_id_.load() ? this : nullptr;
}

void pollers::begin_ask(poller_state& p) noexcept {
  p.under_way = true;
  p.runner.store(nullptr);
  under_way_.fetch_add(1);
  all_.remove(p);
  all_.push_back(p);
}

bool pollers::end_ask(poller_state& p, bool asked) noexcept {
  const platform::nanoseconds now = platform::now();
  guard_.lock();
  if (asked) p.asked_at.store(now);
  p.under_way = false;
  detail::waiter* const ender = std::exchange(p.ender, nullptr);
  const bool gone = p.gone;
  guard_.unlock();
  if (ender != nullptr) detail::wake(*ender);
  return gone;
}

void pollers::carry_out(poller_state& p, const void* runner) {
  p.runner.store(runner);
  const std::size_t found = p.function->ask();
  p.asks.fetch_add(1, std::memory_order_relaxed);       // a statistic
  p.found.fetch_add(found, std::memory_order_relaxed);  // as above
  const auto end = [&] {
    const section inside;
    return end_ask(p, true);
  };
  if (end()) delete &p;
}

// --- workers ---------------------------------------------------------------------------------------------------------

// The function may want locks that a preempted thread holds, for example malloc's. A thread that waits for such a lock
// must make way for its holder, so it must be preemptive.
bool pollers::tasks_may_wait_for_locks() const noexcept {
  const fiber::kind& how = home_.options().threads;
  return !has_preemption() || how.technique == preemption::klt_switching ||
         (how.technique == preemption::signal_yield && how.storage == tls::own);
}

entry pollers::ask(worker& w) noexcept {
  if (!tasks_may_wait_for_locks()) return 0;
  const platform::nanoseconds now = platform::now();
  if (!guard_.try_lock()) return 0;  // another caller chooses
  poller_state* p = all_.front();
  while (p != nullptr && (p->wants.load() == 0 || p->under_way || now < p->asked_at.load() + p->gap)) p = p->next;
  if (p != nullptr) begin_ask(*p);
  guard_.unlock();
  if (p == nullptr) return 0;
  thread* const t = thread_for_tasks(w, run, p);
  if (t != nullptr) return ready_entry(*t);
  // the kernel thread needs no stack; the ask has not begun, so the poller is not gone
  static_cast<void>(end_ask(*p, false));
  under_way_.fetch_sub(1);
  return 0;
}

entry pollers::ask_fairly(worker& w) noexcept {
  bool& asked = searches_[w.rank].asked_fairly;
  const entry item = asked ? 0 : ask(w);
  asked = item != 0;
  return item;
}

void pollers::interrupt_search(const worker& w, std::uint64_t began, std::uint64_t insisted) noexcept {
  search& s = searches_[w.rank];
  s.began = began;
  s.insisted = insisted;
  s.goes_on_at = w.picks.load(std::memory_order_relaxed) + picks_after_ask;  // own counter
}

void pollers::go_on_searching(const worker& w, std::uint64_t& began, std::uint64_t& insisted) const noexcept {
  const search& s = searches_[w.rank];
  if (s.goes_on_at != w.picks.load(std::memory_order_relaxed)) return;  // own counter
  began = s.began;
  insisted = s.insisted;
}

// Entry of a thread that asks.
void pollers::run(thread* self) noexcept {
  auto& p = *static_cast<poller_state*>(self->body.argument);
  pollers& all = p.of;
  begin_user_code(*self);
  all.carry_out(p, self);
  end_user_code(*self);
  all.under_way_.fetch_sub(1);
  serve(*self);
}

// --- the kernel thread -----------------------------------------------------------------------------------------------

void pollers::wake() noexcept {
  calls_.fetch_add(1);
  platform::wake_one(calls_);
}

poller_state* pollers::overdue(platform::nanoseconds& look_at) noexcept {
  const platform::nanoseconds now = platform::now();
  platform::nanoseconds first = never, least = never;
  poller_state* chosen = nullptr;
  guard_.lock();
  for (poller_state* p = all_.front(); p != nullptr && chosen == nullptr; p = p->next) {
    least = std::min(least, p->bound);
    if (p->wants.load() == 0) continue;
    const platform::nanoseconds due = p->under_way ? now + p->bound : p->asked_at.load() + p->bound;
    if (due <= now) chosen = p;
    first = std::min(first, due);
  }
  if (chosen != nullptr) begin_ask(*chosen);
  guard_.unlock();
  if (first != never) {
    lingers_ = false;
    look_at = first;
  } else if (least != never && !std::exchange(lingers_, true)) {
    look_at = now + least;
  } else {
    look_at = 0;
  }
  return chosen;
}

void pollers::keep_bounds() noexcept {
  kernel_id_.store(platform::kernel_thread_id());
  platform::keep_deadlines_exactly();
  while (!ends_.load()) {
    const std::uint32_t calls = calls_.load();
    looks_at_.store(never);  // [poll:3]: from here on a caller of want() calls
    platform::nanoseconds look_at = 0;
    poller_state* const p = overdue(look_at);
    if (p != nullptr) {
      looks_at_.store(0);
      carry_out(*p, this);
      under_way_.fetch_sub(1);
      continue;
    }
    looks_at_.store(look_at != 0 ? look_at : never);
    if (!ends_.load()) platform::wait_on(calls_, calls, look_at);
    looks_at_.store(0);
  }
}

void pollers::end() noexcept {
  HEDDLE_CHECK(all_.empty(), "a runtime ends before a poller of it");
  if (is_there()) {
    ends_.store(true);
    wake();
    platform::join(kernel_);
  }
  while (under_way_.load() != 0) platform::yield_processor();  // of pollers that their own functions have destroyed
}

}  // namespace heddle::worker

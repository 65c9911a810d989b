#include "worker/time/task_meter.hpp"

#include <algorithm>
#include <utility>

#include "worker/carriers/carrier.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

namespace {

account_slot& slot_of(account& kept) noexcept {
  return *reinterpret_cast<account_slot*>(reinterpret_cast<char*>(&kept) - offsetof(account_slot, kept));
}
account_slot& slot_of(fork_time& fork) noexcept {
  return *reinterpret_cast<account_slot*>(reinterpret_cast<char*>(&fork) - offsetof(account_slot, fork));
}

// [usage:3] The source of a sum of two: the less exact source; none, if a part is not known.
policy::source weaker(policy::source a, policy::source b) noexcept {
  return a == policy::source::none || b == policy::source::none ? policy::source::none : std::max(a, b);
}

}  // namespace

platform::usage_reading task_meter::read(const worker& w) const noexcept {
  return platform::read_usage(w.by->counters, wants_.figures);
}

void task_meter::charge(account& to, const platform::usage_reading& now) noexcept {
  for (unsigned i = 0; i < platform::usage_reading::count; ++i) {
    const policy::source both = weaker(mark_.from[i], now.from[i]);
    to.from[i] = to.counted ? weaker(to.from[i], both) : both;
    // a sum that was scaled because others had the counters may go back a little
    if (both != policy::source::none) to.sum[i] += now.value[i] - std::min(now.value[i], mark_.value[i]);
  }
  to.counted = true;
}

void task_meter::begin(thread& t) noexcept {
  account_slot* const slot = slots_.take();
  if (slot == nullptr) return;  // the thread is not counted
  t.metered.kept = ::new (static_cast<void*>(&slot->kept)) account();
  if (wants_.figures.elapsed) t.metered.kept->began = platform::cycles();
}

void task_meter::change(worker& w, thread* from, thread* to) noexcept {
  show(to);
  const bool charges = from != nullptr && from->metered.kept != nullptr;
  const bool counts = to != nullptr && wants_account(*to);
  if (!charges && !counts) return;
  if (counts && to->metered.kept == nullptr) begin(*to);
  if (!reads_) return;
  const platform::usage_reading now = read(w);
  if (charges) charge(*from->metered.kept, now);
  mark_ = now;
}

void task_meter::leave(worker& w, thread& from) noexcept { change(w, &from, nullptr); }
void task_meter::enter(worker& w, thread& to) noexcept { change(w, nullptr, &to); }

void task_meter::forget(thread& t) noexcept {
  if (t.metered.kept != nullptr) slots_.give(slot_of(*std::exchange(t.metered.kept, nullptr)));
}

void task_meter::tell(worker& w, thread& t) noexcept {
  show(nullptr);
  if (!wants_.usage) return;
  policy::task_usage what;
  if (account* const kept = t.metered.kept; kept != nullptr) {
    if (reads_) {
      const platform::usage_reading now = read(w);
      charge(*kept, now);
      mark_ = now;
    }
    if (wants_.figures.elapsed) {
      what.elapsed = {nanoseconds_between(kept->began, platform::cycles()),
                      platform::simulated ? policy::source::simulated : policy::source::clock};
    }
    using reading = platform::usage_reading;
    const auto figure = [&](reading::figure at) {
      return policy::figure{kept->from[at] == policy::source::none ? 0 : kept->sum[at], kept->from[at]};
    };
    what.processor_time = figure(reading::processor_time);
    what.instructions = figure(reading::instructions);
    what.private_misses = figure(reading::private_misses);
    what.shared_misses = figure(reading::shared_misses);
    what.local_accesses = figure(reading::local_accesses);
    what.remote_accesses = figure(reading::remote_accesses);
    forget(t);
  }
  w.home.host().scheduler_policy().used(w.rank, t.scheduling, what);
}

void task_meter::fork_began(thread& owner, const detail::job& of) noexcept {
  account_slot* const slot = slots_.take();
  if (slot == nullptr) return;
  owner.metered.open_forks =
      ::new (static_cast<void*>(&slot->fork)) fork_time{platform::cycles(), &of, owner.metered.open_forks};
}

std::uint64_t task_meter::fork_ended(thread& owner, const detail::job& of) noexcept {
  fork_time* const fork = owner.metered.open_forks;
  if (fork == nullptr || fork->of != &of) return 0;
  owner.metered.open_forks = fork->outer;
  const std::uint64_t took = nanoseconds_between(fork->began, platform::cycles());
  slots_.give(slot_of(*fork));
  return took;
}

}  // namespace heddle::worker

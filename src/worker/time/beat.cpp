#include "worker/time/beat.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "worker/order/capacity.hpp"
#include "worker/policy_host.hpp"

namespace heddle::worker {

namespace {

constexpr platform::nanoseconds measured_every = 10'000'000;
constexpr platform::nanoseconds shortest_beat = 100'000;
constexpr double weight = 0.25;  // of the newest look: a change that lasts for 50 ms is in the mean by three quarters

}  // namespace

int beat::start() {
  const policy::policy_wants& wants = host_.wants();
  if (!wants.changes && !wants.beats) return 0;
  seen_.resize(workers_.size());
  for (unsigned rank = 0; rank < workers_.size(); ++rank) seen_[rank].told = host_.speed(rank);
  return platform::start(kernel_, run, this, "heddle-beat");
}

void beat::end() noexcept {
  if (kernel_.handle == 0) return;
  ends_.store(true);
  capacity_.changes().fetch_add(1);
  platform::wake_all(capacity_.changes());
  platform::join(kernel_);
}

void beat::run(void* self) noexcept { static_cast<beat*>(self)->serve(); }

void beat::serve() noexcept {
  const policy::policy_wants& wants = host_.wants();
  const platform::nanoseconds period = std::max(platform::nanoseconds{wants.beat_us} * 1000, shortest_beat);
  std::atomic<std::uint32_t>& changes = capacity_.changes();
  std::uint32_t known = 0;
  platform::nanoseconds next_look = platform::now();
  platform::nanoseconds next_beat = next_look + period;
  for (;;) {
    const std::uint32_t now_changes = changes.load();
    if (ends_.load()) return;
    bool changed = std::exchange(known, now_changes) != now_changes;
    const platform::nanoseconds now = platform::now();
    if (wants.changes && now >= next_look) {
      next_look = now + measured_every;
      changed |= measure();
    }
    if (changed && wants.changes) host_.scheduler_policy().workers_changed();
    if (wants.beats && now >= next_beat) {
      next_beat = std::max(next_beat + period, now + period / 2);
      host_.scheduler_policy().beat();
    }
    const platform::nanoseconds due =
        std::min(wants.changes ? next_look : next_beat, wants.beats ? next_beat : next_look);
    platform::wait_on(changes, known, due);
  }
}

beat::look beat::look_at(const worker& w) const noexcept {
  look seen;
  // relaxed, all of it: hints. A wrong look makes one wrong share of a smoothed number.
  seen.kernel_thread = w.ticking.kernel_thread.load(std::memory_order_relaxed);
  seen.parks = w.counts.parks.load(std::memory_order_relaxed);
  seen.sleeps = w.stands_aside() || w.token.look() != token::state::awake;
  if (seen.kernel_thread != 0) seen.used = platform::processor_time_of(seen.kernel_thread);
  seen.at = platform::now();
  return seen;
}

double beat::share_between(const look& before, const look& now) noexcept {
  if (before.sleeps || now.sleeps || before.parks != now.parks) return -1;
  if (now.kernel_thread == 0 || before.kernel_thread != now.kernel_thread) return -1;
  if (now.used < before.used || now.at <= before.at || now.used == 0) return -1;
  return std::min(static_cast<double>(now.used - before.used) / static_cast<double>(now.at - before.at), 1.0);
}

bool beat::measure() noexcept {
  bool moved = false;
  for (unsigned rank = 0; rank < workers_.size(); ++rank) {
    seen& of = seen_[rank];
    const look now = look_at(*workers_[rank]);
    if (const double share = share_between(of.last, now); share >= 0) {
      of.share += weight * (share - of.share);
      host_.set_share(rank, of.share);
    }
    of.last = now;
    const double speed = host_.speed(rank);
    if (std::abs(speed - of.told) <= host_.wants().speed_step) continue;
    of.told = speed;
    moved = true;
  }
  return moved;
}

}  // namespace heddle::worker

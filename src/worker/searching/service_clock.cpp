#include "worker/searching/service_clock.hpp"

#include <algorithm>
#include <limits>

#include "worker/carriers/substitutes.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"
#include "worker/time/timekeeping.hpp"

namespace heddle::worker {

namespace {

constexpr unsigned slowest = 8;  // bounds between two looks while nothing waits
constexpr platform::nanoseconds stacks_age_every = 1'000'000'000;
constexpr unsigned looks_for_none = 8;  // looks that find no busy worker before the clock stands still

}  // namespace

int service_clock::start() noexcept { return platform::start(kernel_, run, this, "heddle-clock"); }

void service_clock::end() noexcept {
  if (kernel_.handle == 0) return;
  ends_.store(true);
  call();
  platform::join(kernel_);
}

void service_clock::call() noexcept {
  calls_.fetch_add(1);
  platform::wake_all(calls_);
}

void service_clock::sent_in() noexcept {
  if (kernel_.handle == 0) return;
  const std::uint64_t now = platform::cycles();
  for (const auto& w : workers_) w->remind(now);
  if (looks_at_.load(std::memory_order_relaxed) > platform::now() + bound_) call();  // a hint: else it is late
}

bool service_clock::look(bool& busy) noexcept {
  const bool due = time_.is_due();
  const std::uint64_t now = platform::cycles();
  bool waits = due;
  for (const auto& w : workers_) {
    if (w->idle.load(std::memory_order_relaxed)) continue;  // a hint
    busy = true;
    if (!due && !sources::any<sources::overdue>(*w) && !w->policy_may_have_thread()) continue;
    waits = true;
    w->remind(now);
  }
  return waits;
}

void service_clock::run(void* self) noexcept { static_cast<service_clock*>(self)->serve(); }

// Stacks that the pool keeps for threads that lived of late go back to the system within two periods.
void service_clock::age_stacks(platform::nanoseconds now) noexcept {
  if (now < stacks_age_at_) return;
  stacks_.age();
  stacks_age_at_ = now + stacks_age_every;
}

void service_clock::serve() noexcept {
  unsigned period = 1, idle_looks = 0;
  for (;;) {
    const std::uint32_t seen = calls_.load();
    if (ends_.load()) return;
    bool busy = false;
    const bool waits = look(busy), again = substitutes_.look(busy);
    period = waits || again ? 1 : std::min(2 * period, slowest);
    idle_looks = busy ? 0 : idle_looks + 1;
    const platform::nanoseconds now = platform::now();
    age_stacks(now);
    if (idle_looks > looks_for_none) {
      sleeps_.store(true);
      looks_at_.store(std::numeric_limits<platform::nanoseconds>::max());
      if (stacks_.keeps_more()) platform::wait_on(calls_, seen, stacks_age_at_);
      else platform::wait_on(calls_, seen);
      sleeps_.store(false);
      idle_looks = 0;
      period = 1;
      continue;
    }
    platform::nanoseconds next = now + period * bound_;
    // A timer that comes due while all workers compute. The keeper fires it if a worker sleeps.
    if (const platform::nanoseconds first = time_.timers().next(); busy && first > now && first < next) next = first;
    looks_at_.store(next, std::memory_order_relaxed);  // a hint
    platform::wait_on(calls_, seen, next);
  }
}

}  // namespace heddle::worker

#include "worker/diagnosis/watchdog.hpp"

#include "worker/diagnosis/faults.hpp"
#include "worker/runtime.hpp"

namespace heddle::worker {

namespace {

// These are the process's, because a handler knows no object. `calls` wakes the watchdogs: the handler and each
// destructor raise it. `questions` is raised by the handler alone.
std::atomic<std::uint32_t> calls{0};
std::atomic<std::uint32_t> questions{0};

// Returns true if all workers sleep, and the clock, a blocking call or a file descriptor will make some thread go on:
// there is no progress, and none is missing. A hint.
bool waits_for_the_world(runtime& home) noexcept {
  for (unsigned rank = 0; rank < home.workers(); ++rank) {
    worker& w = home.at(rank);
    if (is_running(w)) return false;
    if (!home.sleepers().idle().is_asleep(rank) && !w.stands_aside() && !w.token.is_lent()) return false;
  }
  return home.time().has_timers() || home.pollers().are_wanted() || home.blocking_calls().keep_carriers() ||
         somebody_waits_for_a_descriptor(home);
}

}  // namespace

watchdog::watchdog(runtime& home, unsigned seconds, const std::string& signal) noexcept
    : home_(home), seconds_(seconds) {
  if (seconds == 0 && signal == "off") return;
  // Before the kernel thread exists, so that a signal that comes while that begins is answered, too.
  seen_ = calls.load();
  answered_ = questions.load();
  if (platform::start(kernel_, watch, this, "heddle-watchdog") != 0) return;
  platform::on_signal(signal.c_str(), asked);
}

watchdog::~watchdog() {
  if (kernel_.handle == 0) return;
  ending_.store(true);
  calls.fetch_add(1);
  platform::wake_all(calls);
  platform::join(kernel_);
}

void watchdog::asked(int) {
  questions.fetch_add(1);
  calls.fetch_add(1);
  platform::wake_all(calls);  // a futex call: async-signal-safe
}

void watchdog::watch(void* argument) {
  auto& self = *static_cast<watchdog*>(argument);
  std::uint32_t seen = self.seen_;
  std::uint32_t answered = self.answered_;
  std::uint64_t progress = self.home_.census().progress();
  bool reported = false;
  while (!self.ending_.load()) {
    const platform::nanoseconds limit =
        self.seconds_ == 0 ? 0 : platform::now() + std::uint64_t{self.seconds_} * 1'000'000'000u;
    platform::wait_on(calls, seen, limit);
    if (self.ending_.load()) return;
    if (calls.load() != seen) {
      seen = calls.load();
      if (const std::uint32_t asked = questions.load(); asked != answered) {
        answered = asked;
        dump_threads(self.home_);
      }
      continue;
    }
    const platform::nanoseconds time = platform::now();
    if (limit == 0 || time < limit) continue;
    // In this order: a thread made since the last look counts as progress, or did not exist for `drained`.
    const bool drained = self.home_.census().drained();
    const std::uint64_t now = self.home_.census().progress();
    // If the look is much too late, the whole process stood still (stopped, or without a processor), so that nothing is
    // learned of its threads.
    const bool late = time - limit > std::uint64_t{self.seconds_} * 1'000'000'000u / 4;
    // A circle is for ever, whichever other threads wait for the clock.
    if (now == progress && !drained && !late && (!waits_for_the_world(self.home_) || in_deadlock(self.home_, false))) {
      static constexpr char text[] = "heddle: watchdog: no progress; all threads follow\n";
      platform::write_error(text, sizeof text - 1);
      if (!reported) dump_threads(self.home_);
      reported = true;
    } else if (!late) {
      reported = false;
    }
    progress = now;
    self.looks_.fetch_add(1);
  }
}

}  // namespace heddle::worker

// How much time a tick takes: what a computation loses by ticks, divided by their number. The time in which the system
// delivers a signal and lets the handler return is most of that, above all in virtual machines, and no clock within the
// handler shows it. The kernel thread's own processor time is read, so other load on the machine hardly counts.
#include <algorithm>
#include <ctime>

#include "platform/linux/signal_frame.hpp"
#include "platform/linux/tick.hpp"
#include "platform/platform.hpp"

namespace heddle::platform {

namespace {

nanoseconds processor_time() noexcept {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<nanoseconds>(t.tv_sec) * 1'000'000'000u + static_cast<nanoseconds>(t.tv_nsec);
}

nanoseconds time_of_rounds(unsigned rounds) noexcept {
  const nanoseconds begin = processor_time();
  for (unsigned i = 0; i < rounds; ++i) asm volatile("" : "+r"(i));
  return processor_time() - begin;
}

}  // namespace

nanoseconds cost_of_tick() noexcept {
  constexpr nanoseconds wanted = 600'000, interval = 60'000;
  constexpr int trials = 5;
  std::uint64_t before = 0;
  change_blocked(SIG_UNBLOCK, bit_of(signal_of_ticks()), &before);
  tick_timer timer;
  nanoseconds least = 0;
  if (make(timer, &measured_ticks) == nullptr) {
    unsigned rounds = 100'000;
    const nanoseconds some = std::max<nanoseconds>(time_of_rounds(rounds), 1'000);
    rounds = static_cast<unsigned>(std::min<nanoseconds>(rounds * wanted / some, 100'000'000));
    for (int i = 0; i < trials; ++i) {
      const nanoseconds alone = std::min(time_of_rounds(rounds), time_of_rounds(rounds));
      measured_ticks.count.store(0);
      set(timer, now() + interval, interval);
      const nanoseconds ticked = time_of_rounds(rounds);
      set(timer, 0, 0);
      const unsigned count = measured_ticks.count.load();
      if (count == 0 || ticked <= alone) continue;
      const nanoseconds each = (ticked - alone) / count;
      least = least == 0 ? each : std::min(least, each);
    }
    drop(timer);
  }
  change_blocked(SIG_SETMASK, before);
  return least;
}

}  // namespace heddle::platform

// The time that computing threads lose to ticks. After Figs. 3.6 and 3.7 of the thesis.
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "measure.hpp"

namespace preempt {

namespace {

constexpr std::uint64_t rounds = 6'000'000;

// The floor: the same timer and a handler that does nothing, in a kernel thread
// without any runtime. Median ratio of its time to that without the timer.
std::atomic<std::uint64_t> empty_ticks{0};

double with_empty_handler(std::chrono::nanoseconds interval, unsigned repeats, unsigned threads, double& us_a_tick) {
  struct sigaction action{}, before;
  action.sa_handler = [](int) { empty_ticks.fetch_add(1, std::memory_order_relaxed); };  // a statistic
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, &before);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGUSR1;
#if defined(sigev_notify_thread_id)
  event.sigev_notify_thread_id = static_cast<int>(syscall(SYS_gettid));
#else
  event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
#endif
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return std::nan("");
  const auto timed = [&](std::chrono::nanoseconds every) {
    itimerspec when{};
    when.it_interval = when.it_value = {static_cast<time_t>(every.count() / 1'000'000'000),
                                        static_cast<long>(every.count() % 1'000'000'000)};
    timer_settime(timer, 0, &when, nullptr);
    const double begin = seconds();
    for (unsigned i = 0; i < threads; ++i) {
      volatile std::uint64_t keep = compute(rounds, i);
      static_cast<void>(keep);
    }
    return seconds() - begin;
  };
  timed(interval);
  std::vector<double> ratios, per_tick;
  for (unsigned r = 0; r < repeats; ++r) {
    const double without = timed(std::chrono::nanoseconds(0));
    const std::uint64_t ticks = empty_ticks.load();
    const double with = timed(interval);
    ratios.push_back(with / without);
    per_tick.push_back((with - without) * 1e6 /
                       static_cast<double>(std::max<std::uint64_t>(empty_ticks.load() - ticks, 1)));
  }
  timer_delete(timer);
  sigaction(SIGUSR1, &before, nullptr);
  us_a_tick = median(per_tick);
  return (median(ratios) - 1) * 100;
}

}  // namespace

// Ten threads a worker that compute. Each technique's run follows one without preemption; the median of the ratios.
nlohmann::json overhead(const settings& given) {
  nlohmann::json rows = nlohmann::json::array();
  say("%-22s %-10s %12s %14s\n", "overhead", "interval", "per cent", "us a tick");
  const way& plain = ways()[1];
  for (const long us : {100L, 1000L, 10000L}) {
    settings s = given;
    s.interval = std::chrono::microseconds(us);
    const unsigned repeats = s.repeats != 0 ? s.repeats : 7;
    double floor_us = 0;
    const double floor = with_empty_handler(s.interval, repeats, 10, floor_us);
    say("%-22s %7ld us %12.2f %14.2f\n", "empty_handler", us, floor, floor_us);
    rows.push_back(
        {{"way", "empty_handler"}, {"interval_us", us}, {"workers", 1}, {"percent", floor}, {"us_a_tick", floor_us}});
    for (const way& w : ways()) {
      if (w.threads || w.how == heddle::preemption::none) continue;
      try {
        const auto base = runtime_for(plain, s);
        const auto rt = runtime_for(w, s);
        const auto timed = [&](const way& how, heddle::runtime* where) {
          const double begin = seconds();
          run_threads(how, s, where, 10 * s.workers, [](unsigned i) {
            volatile std::uint64_t keep = compute(rounds, i);
            static_cast<void>(keep);
          });
          return seconds() - begin;
        };
        timed(w, rt.get());
        std::vector<double> ratios, per_tick;
        for (unsigned r = 0; r < repeats; ++r) {
          const double without = timed(plain, base.get());
          const std::uint64_t ticks = rt->statistics().ticks;
          const double with = timed(w, rt.get());
          ratios.push_back(with / without);
          per_tick.push_back((with - without) * s.workers * 1e6 /
                             static_cast<double>(std::max<std::uint64_t>(rt->statistics().ticks - ticks, 1)));
        }
        const double percent = (median(ratios) - 1) * 100;
        say("%-22s %7ld us %12.2f %14.2f\n", w.name, us, percent, median(per_tick));
        rows.push_back({{"way", w.name},
                        {"interval_us", us},
                        {"timer", s.timer},
                        {"workers", s.workers},
                        {"percent", percent},
                        {"us_a_tick", median(per_tick)}});
      } catch (const std::system_error& e) {
        say("%-22s %s\n", w.name, e.what());
      }
    }
  }
  return rows;
}

}  // namespace preempt

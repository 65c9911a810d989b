// heddle-preempt cost|overhead|barrier|packing [--workers N] [--interval-us N] [--timer KIND] [--repeats N] [--json FILE]
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>

#include "measure.hpp"

namespace preempt {

namespace {

void bind_to_processor(std::thread& t, unsigned index) {
  cpu_set_t allowed, one;
  sched_getaffinity(0, sizeof allowed, &allowed);
  CPU_ZERO(&one);
  for (unsigned cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed) && seen++ == index) CPU_SET(cpu, &one);
  }
  pthread_setaffinity_np(t.native_handle(), sizeof one, &one);
}

// Runs body(i) on `count` threads of that way, on `workers` processors, and returns when all have ended.
template <class F>
void run_threads(const way& w, const settings& s, heddle::runtime* rt, unsigned count, F&& body) {
  if (w.threads) {
    std::vector<std::thread> all;
    for (unsigned i = 0; i < count; ++i) {
      all.emplace_back([&body, i] { body(i); });
      bind_to_processor(all.back(), i % s.workers);
    }
    for (auto& t : all) t.join();
    return;
  }
  rt->run([&] {
    std::vector<heddle::thread> all;
    for (unsigned i = 0; i < count; ++i) all.emplace_back(options(w, *rt), [&body, i] { body(i); });
    for (auto& t : all) t.join();
  });
}

std::unique_ptr<heddle::runtime> runtime_for(const way& w, const settings& s) {
  if (w.threads) return nullptr;
  return std::make_unique<heddle::runtime>(options(w, s.workers, s.interval, s.timer));
}

std::uint64_t stamp() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

double stamps_per_microsecond() {
  const double begin = seconds();
  const std::uint64_t first = stamp();
  while (seconds() - begin < 0.05) {}
  return static_cast<double>(stamp() - first) / ((seconds() - begin) * 1e6);
}

}  // namespace

// Two threads on one processor look at the clock all the time. Whoever finds the other's time there has just got the processor: the
// difference is what the change of threads took.
nlohmann::json cost(const settings& given) {
  settings s = given;
  s.workers = 1;
  const unsigned wanted = s.repeats != 0 ? s.repeats : 1000;
  const double rate = stamps_per_microsecond();
  nlohmann::json rows = nlohmann::json::array();
  std::printf("%-22s %12s %12s %12s   %s\n", "preemption, us", "median", "10 %", "90 %", "in the thesis (Table 3.1, Fig. 3.7)");
  for (const way& w : ways()) {
    if (!w.threads && w.how == heddle::preemption::none) continue;
    try {
      const auto rt = runtime_for(w, s);
      std::vector<double> gaps;
      gaps.reserve(wanted + 2);
      std::atomic<std::uint64_t> last{0};   // time << 1 | who
      std::atomic<bool> done{false};
      run_threads(w, s, rt.get(), 2, [&](unsigned who) {
        std::uint64_t before = last.load(std::memory_order_relaxed);
        while (!done.load(std::memory_order_relaxed)) {
          const std::uint64_t now = stamp() & (~std::uint64_t{0} >> 1);  // one bit is for who
          // Fails when the other has run since: then `before` is its last look at the clock.
          if (last.compare_exchange_strong(before, now << 1 | who, std::memory_order_relaxed)) {
            before = now << 1 | who;
          } else if (before != 0 && (before & 1) != who) {
            gaps.push_back(static_cast<double>((stamp() & (~std::uint64_t{0} >> 1)) - (before >> 1)) / rate);  // room was reserved: nothing is allocated
            if (gaps.size() >= wanted) done.store(true);
          }
        }
      });
      std::sort(gaps.begin(), gaps.end());
      const double middle = gaps[gaps.size() / 2], low = gaps[gaps.size() / 10], high = gaps[gaps.size() * 9 / 10];
      std::printf("%-22s %12.2f %12.2f %12.2f   %s\n", w.name, middle, low, high, w.thesis);
      rows.push_back({{"way", w.name}, {"median_us", middle}, {"p10_us", low}, {"p90_us", high}, {"preemptions", gaps.size()}});
    } catch (const std::system_error& e) {
      std::printf("%-22s %s\n", w.name, e.what());
    }
  }
  return rows;
}

// Ten threads a worker that compute. Each technique's run follows one without preemption; the median of the ratios.
nlohmann::json overhead(const settings& given) {
  nlohmann::json rows = nlohmann::json::array();
  std::printf("%-22s %-10s %12s %14s\n", "overhead", "interval", "per cent", "us a tick");
  const way& plain = ways()[1];
  for (const long us : {100L, 1000L, 10000L}) {
    settings s = given;
    s.interval = std::chrono::microseconds(us);
    const unsigned repeats = s.repeats != 0 ? s.repeats : 7;
    for (const way& w : ways()) {
      if (w.threads || w.how == heddle::preemption::none) continue;
      try {
        const auto base = runtime_for(plain, s);
        const auto rt = runtime_for(w, s);
        const auto timed = [&](const way& how, heddle::runtime* where) {
          const double begin = seconds();
          run_threads(how, s, where, 10 * s.workers, [](unsigned i) {
            volatile std::uint64_t keep = compute(6'000'000, i);
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
          per_tick.push_back((with - without) * s.workers * 1e6 / static_cast<double>(std::max<std::uint64_t>(rt->statistics().ticks - ticks, 1)));
        }
        const double percent = (median(ratios) - 1) * 100;
        std::printf("%-22s %7ld us %12.2f %14.2f\n", w.name, us, percent, median(per_tick));
        rows.push_back({{"way", w.name}, {"interval_us", us}, {"timer", s.timer}, {"workers", s.workers}, {"percent", percent}, {"us_a_tick", median(per_tick)}});
      } catch (const std::system_error& e) {
        std::printf("%-22s %s\n", w.name, e.what());
      }
    }
  }
  return rows;
}

// Ten threads a worker that meet at a barrier by spinning. Without preemption they never would.
nlohmann::json barrier(const settings& s) {
  nlohmann::json rows = nlohmann::json::array();
  const unsigned phases = s.repeats != 0 ? s.repeats : 1000;
  std::printf("%-22s %12s\n", "barrier", "us each");
  for (const way& w : ways()) {
    if (!w.threads && w.how == heddle::preemption::none) continue;
    try {
      const auto rt = runtime_for(w, s);
      const int count = static_cast<int>(10 * s.workers);
      std::atomic<int> arrived{0};
      std::atomic<unsigned> phase{0};
      const double begin = seconds();
      run_threads(w, s, rt.get(), static_cast<unsigned>(count), [&](unsigned) {
        for (unsigned p = 0; p < phases; ++p) {
          if (arrived.fetch_add(1) == count - 1) {
            arrived.store(0);
            phase.fetch_add(1);
          }
          while (phase.load() <= p) {}
        }
      });
      const double each = (seconds() - begin) * 1e6 / phases;
      std::printf("%-22s %12.1f\n", w.name, each);
      rows.push_back({{"way", w.name}, {"us", each}, {"threads", count}, {"phases", phases}, {"interval_us", s.interval.count() / 1000}});
    } catch (const std::system_error& e) {
      std::printf("%-22s %s\n", w.name, e.what());
    }
  }
  return rows;
}

// As many equal threads as workers, on fewer and fewer of them. Ideal: threads / active workers.
nlohmann::json packing(const settings& given) {
  nlohmann::json rows = nlohmann::json::array();
  settings s = given;
  const unsigned repeats = s.repeats != 0 ? s.repeats : 5;
  std::printf("%-22s %8s %12s %12s\n", "packing", "active", "time", "ideal");
  for (const way& w : ways()) {
    if (w.threads || std::strcmp(w.klt, "direct") != 0) continue;
    try {
      const auto rt = runtime_for(w, s);
      const auto timed = [&](unsigned active) {
        rt->set_active_workers(active);
        std::vector<double> times;
        for (unsigned r = 0; r < repeats; ++r) {
          const double begin = seconds();
          run_threads(w, s, rt.get(), s.workers, [](unsigned i) {
            volatile std::uint64_t keep = compute(30'000'000, i);
            static_cast<void>(keep);
          });
          times.push_back(seconds() - begin);
        }
        return median(times);
      };
      const double all = timed(s.workers);
      for (unsigned n = s.workers; n >= 1; --n) {
        const double time = timed(n) / all, ideal = static_cast<double>(s.workers) / n;
        std::printf("%-22s %8u %12.3f %12.3f\n", w.name, n, time, ideal);
        rows.push_back({{"way", w.name}, {"active", n}, {"workers", s.workers}, {"time", time}, {"ideal", ideal}});
      }
    } catch (const std::system_error& e) {
      std::printf("%-22s %s\n", w.name, e.what());
    }
  }
  return rows;
}

}  // namespace preempt

int main(int argc, char** argv) {
  preempt::settings s;
  std::string json;
  if (argc < 2) {
    std::fprintf(stderr, "usage: heddle-preempt cost|overhead|barrier|packing [--workers N] [--interval-us N] [--timer KIND] [--repeats N] [--json FILE]\n");
    return 2;
  }
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--workers") s.workers = static_cast<unsigned>(std::max(1, std::atoi(argv[i + 1])));
    else if (option == "--interval-us") s.interval = std::chrono::microseconds(std::atol(argv[i + 1]));
    else if (option == "--timer") s.timer = argv[i + 1];
    else if (option == "--repeats") s.repeats = static_cast<unsigned>(std::atoi(argv[i + 1]));
    else if (option == "--json") json = argv[i + 1];
    else {
      std::fprintf(stderr, "heddle-preempt: no option %s\n", argv[i]);
      return 2;
    }
  }
  const std::string what = argv[1];
  nlohmann::json rows;
  if (what == "cost") rows = preempt::cost(s);
  else if (what == "overhead") rows = preempt::overhead(s);
  else if (what == "barrier") rows = preempt::barrier(s);
  else if (what == "packing") rows = preempt::packing(s);
  else {
    std::fprintf(stderr, "heddle-preempt: no measurement %s\n", what.c_str());
    return 2;
  }
  if (!json.empty()) std::ofstream(json) << nlohmann::json{{"measurement", what}, {"rows", rows}}.dump(1) << "\n";
  return 0;
}

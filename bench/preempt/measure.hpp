// The parts that the measurements of heddle-preempt share: the ways to be preempted, a clock, statistics, results as a
// table and as JSON.
#pragma once

#include <heddle/heddle.hpp>

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

namespace preempt {

// One row of a table. `threads` means kernel threads, one a thread; the others are user-level.
struct way {
  const char* name;
  bool threads;
  heddle::preemption how;
  heddle::tls storage;
  const char* klt;
  const char* thesis;  // the row it stands for
};

inline const std::vector<way>& ways() {
  using heddle::preemption;
  using heddle::tls;
  static const std::vector<way> all = {
      {"kernel_threads", true, preemption::none, tls::carrier, "direct", "1:1 threads"},
      {"nonpreemptive", false, preemption::none, tls::carrier, "direct", "nonpreemptive M:N"},
      {"signal_yield", false, preemption::signal_yield, tls::carrier, "direct", "signal-yield"},
      {"signal_yield_own_tls", false, preemption::signal_yield, tls::own, "direct", "-"},
      {"klt_naive", false, preemption::klt_switching, tls::carrier, "naive", "KLT-switching (naive)"},
      {"klt_futex", false, preemption::klt_switching, tls::carrier, "futex", "KLT-switching (futex)"},
      {"klt_local", false, preemption::klt_switching, tls::carrier, "local", "KLT-switching (futex, local pool)"},
      {"klt_direct", false, preemption::klt_switching, tls::carrier, "direct", "-"},
  };
  return all;
}

inline heddle::runtime_options options(const way& w, unsigned workers, std::chrono::nanoseconds interval,
                                       const std::string& timer) {
  heddle::runtime_options o;
  o.workers = workers;
  o.bind = "on";
  o.preempt = heddle::preemption::none;
  o.preempt_interval = interval;
  o.preempt_timer = timer;
  o.preempt_klt = w.klt;
  return o;
}

inline heddle::thread_options options(const way& w, heddle::runtime& where) {
  heddle::thread_options o;
  o.where = &where;
  o.preemption = w.how;
  o.tls = w.storage;
  return o;
}

// A line of the table for people; nothing when only JSON is wanted.
inline bool silent = false;
[[gnu::format(printf, 1, 2)]] inline void say(const char* format, ...) {
  if (silent) return;
  va_list values;
  va_start(values, format);
  std::vprintf(format, values);
  va_end(values);
  std::fflush(stdout);
}

inline unsigned processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(CPU_COUNT(&allowed));
}

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double median(std::vector<double> v) {
  if (v.empty()) return std::nan("");
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// Keeps the processor busy without memory: the same work in every run.
inline std::uint64_t compute(std::uint64_t rounds, std::uint64_t seed) {
  std::uint64_t x = seed | 1;
  for (std::uint64_t i = 0; i < rounds; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

inline std::uint64_t stamp() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

inline double stamps_per_microsecond() {
  const double begin = seconds();
  const std::uint64_t first = stamp();
  while (seconds() - begin < 0.05) {
  }
  return static_cast<double>(stamp() - first) / ((seconds() - begin) * 1e6);
}

struct settings {
  unsigned workers = 1;
  std::chrono::nanoseconds interval{1'000'000};
  std::string timer = "aligned";
  unsigned repeats = 0;  // 0 means the measurement's own
};

// Makes workers that are bound if each can have a processor.
inline std::unique_ptr<heddle::runtime> runtime_for(const way& w, const settings& s) {
  if (w.threads) return nullptr;
  return std::make_unique<heddle::runtime>(options(w, s.workers, s.interval, s.timer));
}

inline void bind_to_processor(std::thread& t, unsigned index) {
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
      bind_to_processor(all.back(), i % std::min(s.workers, processors()));
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

// Each function prints a table and returns its rows. It throws what the runtime throws for impossible settings.
nlohmann::json cost(const settings& s);
nlohmann::json overhead(const settings& s);
nlohmann::json timers(const settings& s);
nlohmann::json barrier(const settings& s);
nlohmann::json packing(const settings& s);
nlohmann::json insitu(const settings& s);

}  // namespace preempt

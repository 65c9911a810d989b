// What the measurements of heddle-preempt share: the ways to be preempted, a clock, statistics, results as a table and as JSON.
#pragma once

#include <heddle/heddle.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace preempt {

// One row of a table. `threads`: kernel threads, one a thread; the others are user-level.
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

inline heddle::runtime_options options(const way& w, unsigned workers, std::chrono::nanoseconds interval, const std::string& timer) {
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

struct settings {
  unsigned workers = 1;
  std::chrono::nanoseconds interval{1'000'000};
  std::string timer = "aligned";
  unsigned repeats = 0;    // 0: the measurement's own
};

nlohmann::json cost(const settings& s);
nlohmann::json overhead(const settings& s);
nlohmann::json barrier(const settings& s);
nlohmann::json packing(const settings& s);

}  // namespace preempt

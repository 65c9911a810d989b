#include "model.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <heddle/cost.hpp>
#include <heddle/pause.hpp>
#include <heddle/thread.hpp>

namespace heddle::preempt_model {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool simulated() { return heddle_cost != nullptr; }

std::uint64_t rounds(std::uint64_t n, std::uint64_t x) {
  for (std::uint64_t i = 0; i < n; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

void compute(double ms, unsigned seed) {
  if (simulated()) return heddle::cost::cycles(ms * 1000 * cycles_a_microsecond);
  volatile std::uint64_t keep = rounds(static_cast<std::uint64_t>(ms * rounds_a_ms), seed);
  static_cast<void>(keep);
}

void wait_a_turn(double us) {
  if (simulated()) heddle::cost::cycles(us * cycles_a_microsecond);
  else heddle::this_thread::pause();
}

bool by_kernel_threads(const settings& s) { return s.technique == "threads"; }

heddle::preemption technique_of(const std::string& name) {
  if (name == "signal_yield") return heddle::preemption::signal_yield;
  if (name == "klt_switching") return heddle::preemption::klt_switching;
  return heddle::preemption::none;
}

std::unique_ptr<heddle::runtime> runtime_for(const settings& s) {
  heddle::runtime_options o;
  o.workers = by_kernel_threads(s) ? s.workers * s.threads : s.workers;
  o.bind = "on";
  o.preempt = heddle::preemption::none;
  o.preempt_interval = std::chrono::nanoseconds(static_cast<long>(s.interval_us * 1000));
  o.preempt_timer = s.timer;
  o.preempt_klt = s.klt;
  return std::make_unique<heddle::runtime>(o);
}

}  // namespace heddle::preempt_model

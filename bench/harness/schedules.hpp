// Runs a loop by each of a runtime's schedules: "time, guided" and so on. "time" is the best of them, or the schedule
// of loops that name none (`schedule_by_default`). With --variant default only the latter is run, without a name, so
// that a runtime may be told from outside (HEDDLE_LOOP).
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "harness/kernel.hpp"
#include "harness/placement.hpp"

namespace heddle::bench {

// take(name, loop) measures the metric, whose loops are loop(n, f), and gives the figures back.
template <class Backend, class Take>
void by_schedules(const std::string& metric, const std::string& unit, const Take& take) {
  if constexpr (requires { Backend::schedules; }) {
    constexpr bool has_default = requires { Backend::schedule_by_default; };
    context::measured best;
    for (std::size_t k = 0; k < Backend::schedules.size(); ++k) {
      const std::string name = metric + ", " + std::string(Backend::schedules[k]);
      context::measured m = take(name, [k](std::size_t n, const auto& f) { Backend::loop_by(k, n, f); });
      print_metric(name, unit, m.samples, m.checksum);
      if (k == 0 || (!has_default && m.middle() < best.middle())) best = std::move(m);
    }
    print_metric(metric, unit, best.samples, best.checksum);
  } else {
    const context::measured m = take(metric, [](std::size_t n, const auto& f) { Backend::loop(n, f); });
    print_metric(metric, unit, m.samples, m.checksum);
  }
}

// In setup: f(i) for all i < n, which touch memory first, by the loop, or by the caller alone under touch::serial.
template <class Loop, class F>
void touch_by(const Loop& loop, touch how, std::size_t n, const F& f) {
  if (how != touch::serial) return loop(n, f);
  for (std::size_t i = 0; i < n; ++i) f(i);
}

// Milliseconds of body(loop) in "time"; setup(loop) goes before each sample, check() gives its result.
template <class Backend, class Setup, class Body, class Check>
void measure_schedules(context& c, const Setup& setup, const Body& body, const Check& check) {
  const auto take = [&](const std::string& name, const auto& loop) {
    return c.take(name, 1e3, [&] { setup(loop); }, [&] { body(loop); }, check);
  };
  if (c.chose("default")) {
    const context::measured m = take("time", [](std::size_t n, const auto& f) { Backend::loop(n, f); });
    print_metric("time", "ms", m.samples, m.checksum);
  } else {
    by_schedules<Backend>("time", "ms", take);
  }
}

}  // namespace heddle::bench

// The parts that scenarios on a runtime share.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <heddle/heddle.hpp>
#include <heddle/pause.hpp>

#include "tests/sim_explore/schedules.hpp"

namespace heddle::sim {

// Each scenario has 1000 schedules, and 3000 times n with HEDDLE_STRESS=n; a mutant has 3000 at least. They are
// numbered from 1, or from HEDDLE_SCHEDULE: other ones, or the one that failed first of all.
inline unsigned schedules() {
  constexpr unsigned whole = 3000;
  const char* times = std::getenv("HEDDLE_STRESS");
  if (times != nullptr && std::atoi(times) > 0) return whole * static_cast<unsigned>(std::atoi(times));
#if defined(HEDDLE_MUTANT)
  return whole;
#else
  return whole / 3;
#endif
}

inline std::uint64_t first_schedule() {
  const char* from = std::getenv("HEDDLE_SCHEDULE");
  return from != nullptr && std::atoll(from) > 0 ? static_cast<std::uint64_t>(std::atoll(from)) : 1;
}

inline void require(bool condition) {
  if (!condition) std::abort();
}

inline runtime_options workers(std::size_t n) {
  runtime_options o;
  o.workers = n;
  o.spin = 2;
  o.bind = "off";
  return o;
}

struct scenario {
  const char* name;
  void (*run)();
};

// The name of a test with a scenario for its parameter.
inline constexpr auto named = [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
};

template <class F>
void expect_right(F&& scenario, unsigned count = schedules()) {
  const verdict v = explore(scenario, count, first_schedule());
  EXPECT_FALSE(v.failed) << "schedule " << v.seed << " ended with status " << v.status;
}

#if defined(HEDDLE_MUTANT)
// A runtime with a mistake: at least one of the scenarios, which have names, must show it.
template <class Scenarios, class Explored>
void expect_found(const Scenarios& all, Explored&& explored) {
  std::string found;
  for (const auto& s : all) {
    const verdict v = explored(s);
    if (!v.failed) continue;
    found = std::string(s.name) + ", schedule " + std::to_string(v.seed) + ", status " + std::to_string(v.status);
    break;
  }
  std::printf("%s: %s\n", program_invocation_short_name, found.empty() ? "not found" : found.c_str());
  EXPECT_FALSE(found.empty());
}

template <class Scenarios>
void expect_found(const Scenarios& all) {
  expect_found(all, [](const scenario& s) { return explore(s.run, schedules(), first_schedule()); });
}
#endif

template <class F>
void on(runtime& home, F&& f) {
  detail::run_in_runtime(f, &home);
}

// In some schedules a leaf stays in its pause until nobody else can go on: then nobody may sleep beside work
// ([conserving:1]).
inline long fib(int n) {
  if (n == 1) this_thread::pause();
  if (n < 2) return n;
  const auto [a, b] = parallel_invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

}  // namespace heddle::sim

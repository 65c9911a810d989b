// For scenarios whose threads wait for each other in loops of their own.
#pragma once

#include <vector>

#include <heddle/heddle.hpp>
#include <heddle/pause.hpp>

#include "tests/sim_explore/scenario.hpp"

namespace heddle::sim {

// Schedules that let the others stand still for so many looks are too rare to be met; so it is a loop without end.
constexpr int endless = 100'000;

template <class Condition>
void spin(Condition holds) {
  for (int looks = 0; !holds(); ++looks) {
    require(looks < endless);
    this_thread::pause();
  }
}

// body(i) on n threads of the runtime; the caller joins them.
template <class F>
void threads(runtime& home, int n, F body) {
  thread_options o;
  o.where = &home;
  std::vector<thread> all;
  for (int i = 0; i < n; ++i) all.emplace_back(o, [&body, i] { body(i); });
  for (thread& t : all) t.join();
}

}  // namespace heddle::sim

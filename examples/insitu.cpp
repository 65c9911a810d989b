// In-situ analysis: a simulation in threads of a high priority, and what looks at its results in preemptive threads of a low one. The
// analysis gets what the simulation leaves over: its threads run where nothing else does, and go at the next tick.
#include <heddle/heddle.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

#include "insitu/lennard_jones.hpp"

namespace {

constexpr unsigned steps = 60, steps_between_analyses = 10, parts = 4;

heddle::thread_options simulation() {
  heddle::thread_options o;
  o.priority = heddle::priority::high;
  return o;
}

heddle::thread_options analysis() {
  heddle::thread_options o;
  o.priority = heddle::priority::low;
#if !defined(__SANITIZE_THREAD__)
  o.preemption = heddle::preemption::signal_yield;  // it touches its own memory only: nothing of the kernel thread's
#endif
  return o;
}

void simulate(insitu::fluid& fluid, insitu::radial_distribution& g) {
  std::vector<heddle::thread> analysts;
  for (unsigned s = 0; s < steps; ++s) {
    fluid.step(parts, [](auto compute) {
      std::vector<heddle::thread> threads;
      for (unsigned p = 1; p < parts; ++p) threads.emplace_back(simulation(), [compute, p] { compute(p, parts); });
      compute(0, parts);
      for (auto& t : threads) t.join();
    });
    if (s % steps_between_analyses != 0) continue;
    for (auto& t : analysts) t.join();  // the last one has had the time since then
    analysts.clear();
    g.take(fluid);
    for (unsigned p = 0; p < g.parts(); ++p) analysts.emplace_back(analysis(), [&g, p] { g.count(p); });
  }
  for (auto& t : analysts) t.join();
}

}  // namespace

int main() {
  insitu::fluid fluid(6);
  insitu::radial_distribution g(3);
  const double before = fluid.total_energy();
  heddle::thread(simulation(), [&] { simulate(fluid, g); }).join();
  const double after = fluid.total_energy();

  std::size_t highest = 0;
  for (std::size_t bin = 0; bin < g.bins; ++bin) {
    if (g.g(bin) > g.g(highest)) highest = bin;
  }
  std::printf("%zu atoms, energy of each %.5f, then %.5f; g(r) is highest, %.2f, at r = %.2f\n", fluid.atoms(), before / static_cast<double>(fluid.atoms()),
              after / static_cast<double>(fluid.atoms()), g.g(highest), g.radius(highest));
  const bool conserved = std::abs(after - before) < 1e-3 * std::abs(before);
  const bool liquid = g.radius(highest) > 1.0 && g.radius(highest) < 1.2 && g.g(highest) > 2;  // the nearest neighbours
  return conserved && liquid ? 0 : 1;
}

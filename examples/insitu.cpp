// In-situ analysis: a simulation in threads of a high priority, and an analysis of its results in
// preemptive threads of a low priority. The analysis gets the processors that the simulation leaves
// idle: its threads run where nothing else does, and make way when the simulation wants to go on.
// Several analyses may be under way, each with its own copy of the atoms, so that the simulation
// waits for none of them.
#include <heddle/heddle.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "insitu/analyses.hpp"

namespace {

constexpr unsigned steps = 60, steps_between_analyses = 10, parts = 4, buffers = 4;

heddle::thread_options simulation() {
  heddle::thread_options o;
  o.priority = heddle::priority::high;
  return o;
}

heddle::thread_options analysis() {
  heddle::thread_options o;
  o.priority = heddle::priority::low;
#if !defined(__SANITIZE_THREAD__)
  o.preemption = heddle::preemption::signal_yield;  // it touches only its own memory, and no state of the kernel thread
#endif
  return o;
}

// Calls ended(number, g) when an analysis is complete.
template <class Ended>
void simulate(insitu::fluid& fluid, Ended&& ended) {
  insitu::analyses<heddle::thread> queue(buffers, parts - 1);
  for (unsigned s = 0; s < steps; ++s) {
    fluid.step(parts, [](auto compute) {
      std::vector<heddle::thread> threads;
      for (unsigned p = 1; p < parts; ++p) threads.emplace_back(simulation(), [compute, p] { compute(p, parts); });
      compute(0, parts);
      for (auto& t : threads) t.join();
    });
    if (s % steps_between_analyses == 0)
      queue.add(fluid, [](auto work) { return heddle::thread(analysis(), work); }, ended);
    // This stands for a wait for messages of other processes: the analysis may have all workers.
    heddle::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  queue.finish(ended);
}

}  // namespace

int main() {
  insitu::fluid fluid(6);
  const double before = fluid.total_energy();
  double radius = 0, height = 0;  // of the last analysis: where g is highest
  std::size_t last = 0;
  const auto ended = [&](std::size_t number, const insitu::radial_distribution& g) {
    if (number < last) return;
    last = number;
    height = 0;
    for (std::size_t bin = 0; bin < g.bins; ++bin) {
      if (g.g(bin) > height) radius = g.radius(bin), height = g.g(bin);
    }
  };
  heddle::thread(simulation(), [&] { simulate(fluid, ended); }).join();
  const double after = fluid.total_energy();

  std::printf("%zu atoms, energy of each %.5f, then %.5f; g(r) is highest, %.2f, at r = %.2f\n", fluid.atoms(),
              before / static_cast<double>(fluid.atoms()), after / static_cast<double>(fluid.atoms()), height, radius);
  const bool conserved = std::abs(after - before) < 1e-3 * std::abs(before);
  // the nearest neighbours
  const bool liquid = last == (steps - 1) / steps_between_analyses && radius > 1.0 && radius < 1.2 && height > 2;
  return conserved && liquid ? 0 : 1;
}

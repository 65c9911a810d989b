// In-situ analysis: the molecular dynamics program of the examples, right by itself and with analyses of a lower priority beside it.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "../../examples/insitu/lennard_jones.hpp"
#include "support/runtimes.hpp"

namespace {

using heddle::preemption;
using heddle::priority;

const auto serially = [](auto compute) { compute(0, 1); };

TEST(lennard_jones, energy_is_conserved) {
  insitu::fluid fluid(5);
  const double before = fluid.total_energy(), kinetic = fluid.kinetic_energy();
  double least = before, most = before;
  for (int s = 0; s < 300; ++s) {
    fluid.step(1, serially);
    least = std::min(least, fluid.total_energy());
    most = std::max(most, fluid.total_energy());
  }
  EXPECT_LT(most - least, 1e-3 * std::abs(before));
  EXPECT_GT(std::abs(fluid.kinetic_energy() - kinetic), 0.05 * kinetic);  // the lattice melts: energy does change its form
}

TEST(lennard_jones, shares_of_the_cells_give_the_same) {
  insitu::fluid whole(5), shared(5);
  for (int s = 0; s < 5; ++s) {
    whole.step(1, serially);
    shared.step(7, [](auto compute) {
      for (unsigned p = 7; p-- > 0;) compute(p, 7);
    });
  }
  for (std::size_t i = 0; i < whole.atoms(); ++i) ASSERT_EQ(whole.positions()[i].x, shared.positions()[i].x);
}

TEST(lennard_jones, the_lattice_has_its_neighbours_where_they_belong) {
  const insitu::fluid fluid(5);
  insitu::radial_distribution g(3);
  g.take(fluid);
  for (unsigned p = 0; p < 3; ++p) g.count(p);
  std::size_t first = 0;
  while (g.g(first) == 0) ++first;
  EXPECT_NEAR(g.radius(first), fluid.box() / 5 / std::sqrt(2.0), fluid.box() / 2 / insitu::radial_distribution::bins);
}

struct result {
  double energy;
  std::vector<double> g;
};

template <class Simulation, class Analysis>
result run(heddle::runtime& rt, const Simulation& simulation, const Analysis& analysis) {
  result r{};
  heddle::thread(simulation, [&] {
    insitu::fluid fluid(5);
    insitu::radial_distribution g(4);
    std::vector<heddle::thread> analysts;
    for (int s = 0; s < 40; ++s) {
      fluid.step(3, [&](auto compute) {
        std::vector<heddle::thread> threads;
        for (unsigned p = 1; p < 3; ++p) threads.emplace_back(simulation, [compute, p] { compute(p, 3); });
        compute(0, 3);
        for (auto& t : threads) t.join();
      });
      if (s % 4 != 0) continue;
      for (auto& t : analysts) t.join();
      analysts.clear();
      for (std::size_t b = 0; s > 0 && b < g.bins; ++b) r.g.push_back(g.g(b));
      g.take(fluid);
      for (unsigned p = 0; p < 4; ++p) analysts.emplace_back(analysis, [&g, p] { g.count(p); });
    }
    for (auto& t : analysts) t.join();
    r.energy = fluid.total_energy();
  }).join();
  static_cast<void>(rt);
  return r;
}

class techniques : public testing::TestWithParam<preemption> {};

TEST_P(techniques, analyses_of_a_lower_priority_change_nothing) {
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
  heddle::runtime_options o;
  o.workers = 3;
  o.preempt_interval = std::chrono::microseconds(100);
  o.preempt_timer = "chain";
  heddle::runtime rt(o);
  heddle::thread_options simulation, analysis;
  simulation.where = analysis.where = &rt;
  const result plain = run(rt, simulation, analysis);
  simulation.priority = priority::high;
  analysis.priority = priority::low;
  analysis.preemption = GetParam();
  const result with = run(rt, simulation, analysis);
  EXPECT_EQ(plain.energy, with.energy);
  EXPECT_EQ(plain.g, with.g);
}

INSTANTIATE_TEST_SUITE_P(insitu, techniques, testing::Values(preemption::signal_yield, preemption::klt_switching),
                         [](const auto& info) { return std::string(info.param == preemption::klt_switching ? "klt" : "signal_yield"); });

}  // namespace

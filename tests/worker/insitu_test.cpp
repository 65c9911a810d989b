// In-situ analysis: the molecular dynamics program of the examples,
// right by itself and with analyses of a lower priority beside it.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../../examples/insitu/analyses.hpp"
#include "support/preemption.hpp"

namespace insitu_test {
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
  // the lattice melts: energy does change its form
  EXPECT_GT(std::abs(fluid.kinetic_energy() - kinetic), 0.05 * kinetic);
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

TEST(analyses, end_with_what_they_began_with) {
  insitu::fluid fluid(5);
  insitu::radial_distribution g(2);
  g.take(fluid);
  g.count(0), g.count(1);
  struct when_joined {  // begins as late as a thread may
    std::function<void()> work;
    void join() { work(); }
  };
  insitu::analyses<when_joined> queue(3, 2);
  std::vector<std::size_t> order;
  const auto ended = [&](std::size_t number, const insitu::radial_distribution& of) {
    order.push_back(number);
    if (number == 0) {
      for (std::size_t b = 0; b < g.bins; ++b) ASSERT_EQ(of.g(b), g.g(b));
    }
  };
  for (int a = 0; a < 5; ++a) {
    queue.add(fluid, [](std::function<void()> work) { return when_joined{std::move(work)}; }, ended);
    EXPECT_EQ(queue.waits(), a < 3 ? 0u : static_cast<unsigned>(a) - 2);
    fluid.step(1, serially);
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1}));
  queue.finish(ended);
  EXPECT_EQ(order.size(), 5u);
}

struct result {
  double energy;
  std::vector<std::vector<double>> g;  // of each analysis
};

result run(const heddle::thread_options& simulation, const heddle::thread_options& analysis) {
  constexpr std::size_t steps = 40, between = 4;
  result r{0, std::vector<std::vector<double>>(steps / between)};
  heddle::thread(simulation, [&] {
    insitu::fluid fluid(5);
    insitu::analyses<heddle::thread> queue(3, 4);
    const auto ended = [&](std::size_t number, const insitu::radial_distribution& g) {
      for (std::size_t b = 0; b < g.bins; ++b) r.g[number].push_back(g.g(b));
    };
    for (std::size_t s = 0; s < steps; ++s) {
      fluid.step(3, [&](auto compute) {
        std::vector<heddle::thread> threads;
        for (unsigned p = 1; p < 3; ++p) threads.emplace_back(simulation, [compute, p] { compute(p, 3); });
        compute(0, 3);
        for (auto& t : threads) t.join();
      });
      if (s % between == 0) queue.add(fluid, [&](auto work) { return heddle::thread(analysis, work); }, ended);
      heddle::this_thread::sleep_for(std::chrono::microseconds(s % 3 * 100));
    }
    queue.finish(ended);
    r.energy = fluid.total_energy();
  }).join();
  return r;
}

class insitu_techniques : public heddle_test::with_ticks<preemption> {};

TEST_P(insitu_techniques, analyses_of_a_lower_priority_change_nothing) {
  heddle::runtime_options o = heddle_test::options_for(3);
  o.preempt_timer = "chain";
  heddle::runtime rt(o);
  heddle::thread_options simulation, analysis;
  simulation.where = analysis.where = &rt;
  const result plain = run(simulation, analysis);
  simulation.priority = priority::high;
  analysis.priority = priority::low;
  analysis.preemption = GetParam();
  const result with = run(simulation, analysis);
  EXPECT_EQ(plain.energy, with.energy);
  EXPECT_EQ(plain.g, with.g);
  for (const auto& g : with.g) EXPECT_EQ(g.size(), std::size_t{insitu::radial_distribution::bins});
}

INSTANTIATE_TEST_SUITE_P(insitu, insitu_techniques,
                         testing::Values(preemption::signal_yield, preemption::klt_switching),
                         [](const auto& info) { return heddle_test::name_of(info.param); });

}  // namespace
}  // namespace insitu_test

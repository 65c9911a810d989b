// Grids that are cut by rows, on a modelled machine of four sockets: the results are those of the serial program, many
// workers are faster than one, and with stealing off a leaf stays where it was in the iteration before.
#if __has_include("backend/heddle.hpp")  // the kernels are not there in a build without benchmarks
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "backend/heddle.hpp"
#include "backend/serial.hpp"
#include "bench/captured.hpp"
#include "ge/ge.hpp"
#include "heat/heat.hpp"
#include "sim/session.hpp"
#include "sor/sor.hpp"
#include "stencil25/stencil25.hpp"

namespace heddle::bench {
namespace rows_test {
namespace {

settings asked(std::size_t n, std::size_t iterations, std::size_t columns, const char* policy) {
  settings s;
  s.kernel = "it";
  s.n = n;
  s.iterations = iterations;
  s.columns = columns;
  s.leaf = 4;
  s.workers = 16;
  s.policy = policy;
  s.samples = 1;
  s.warmup = 0;
  return s;
}

template <class Kernel>
void expect_serial_results(std::size_t n, std::size_t iterations, std::size_t columns) {
  captured.clear();
  settings s = asked(n, iterations, columns, "");
  context plain(s);
  Kernel::template execute<serial_backend>(plain);
  const auto serial = captured;
  ASSERT_EQ(serial.size(), 2u);
  for (const char* policy : {"random_ws", "adws"}) {
    s.policy = policy;
    sim::session_options o;
    o.machine = "opteron-8380-4x4";
    const sim::session simulation(o);
    captured.clear();
    context c(s);
    Kernel::template execute<heddle_backend>(c);
    ASSERT_EQ(captured.size(), 2u);
    for (const auto& [tree, m] : captured) EXPECT_EQ(m.checksum, serial.at(tree).checksum) << policy << " " << tree;
  }
}
TEST(rows_simulated, heat) { expect_serial_results<heat>(128, 4, 256); }
TEST(rows_simulated, sor) { expect_serial_results<sor>(128, 4, 256); }
TEST(rows_simulated, ge) { expect_serial_results<ge>(192, 20, 0); }
TEST(rows_simulated, stencil25) { expect_serial_results<stencil25>(64, 2, 16); }

// Virtual time of iterations after a first one.
template <class Kernel>
sim::picoseconds iterations_take(std::size_t rows, std::size_t columns, unsigned workers) {
  sim::session_options o;
  o.machine = "opteron-8380-4x4";
  o.charge = sim::charging::annotations;  // not what this machine takes, for whatever else it has to do
  sim::session simulation(o);
  settings s = asked(rows, 0, columns, "adws");
  s.workers = workers;
  heddle_backend backend(s);
  const rows_shape shape(rows, columns, Kernel::reach, Kernel::solid);
  const rows_memory memory(shape, 2, touch::first);
  const rows_plan plan{rows_tree::irregular, 4, static_cast<double>(shape.inner_points()), memory.bytes_a_row()};
  sim::picoseconds begin = 0, end = 0;
  backend.run([&] {
    memory.place<heddle_backend>(plan);
    memory.start<heddle_backend>(plan, rows_random(shape));
    for (std::size_t i = 0; i < 6; ++i) {
      if (i == 1) begin = simulation.of().now();
      stencil_iteration<heddle_backend, Kernel>(plan, shape, memory.grid(i), memory.grid(i + 1));
    }
    end = simulation.of().now();
  });
  return end - begin;
}

TEST(rows_simulated, leaves_tell_what_they_cost) {
  EXPECT_GT(iterations_take<heat>(256, 256, 1), 4 * iterations_take<heat>(256, 256, 16));
  EXPECT_GT(iterations_take<stencil25>(64, 32, 1), 2 * iterations_take<stencil25>(64, 32, 16));
  // No faster than the arithmetic alone: 64 x 32 x 32 points, five times.
  const double cycles = stencil_load_cycles * stencil25::loads * 64 * 32 * 32 * 5;
  EXPECT_GT(static_cast<double>(iterations_take<stencil25>(64, 32, 1)), cycles * 400) << "at 2.5 GHz";
}

// Of each leaf, by its first row, the worker that runs it: a vector an iteration.
std::vector<std::vector<int>> places(const char* policy, rows_tree tree, std::size_t iterations) {
  sim::session_options o;
  o.machine = "opteron-8380-4x4";
  const sim::session simulation(o);
  heddle_backend backend(asked(256, 0, 64, policy));
  const rows_shape shape(256, 64, 1, false);
  const rows_memory memory(shape, 2, touch::first);
  std::vector<std::vector<int>> workers(iterations, std::vector<int>(shape.last(), -1));
  const rows_plan plan{tree, 4, 64, memory.bytes_a_row()};
  backend.run([&] {
    memory.place<heddle_backend>(plan);
    for (auto& of : workers) {
      next_iteration<heddle_backend>(&plan);
      rows_all<heddle_backend>(plan, shape.first(), shape.last(), [&of](std::size_t first, std::size_t last) {
        told::cycles(1000.0 * static_cast<double>(last - first));
        of[first] = runtime::current().worker_rank();
      });
    }
  });
  return workers;
}

TEST(rows_simulated, leaves_stay_where_they_were_without_stealing) {
  for (const rows_tree tree : {rows_tree::regular, rows_tree::irregular}) {
    const auto workers = places("adws:steal=off", tree, 4);
    std::set<int> used(workers[0].begin(), workers[0].end());
    used.erase(-1);
    EXPECT_EQ(used.size(), 16u) << rows_tree_name(tree);
    for (const auto& of : workers) EXPECT_EQ(of, workers[0]) << rows_tree_name(tree);
  }
}

// Each task is known again by its path in the tree, and where iterations begin is told.
TEST(rows_simulated, leaves_stay_once_stealing_is_constrained) {
  for (const rows_tree tree : {rows_tree::regular, rows_tree::irregular}) {
    const auto workers = places("constrained_ws:relws=2", tree, 8);
    EXPECT_NE(workers[1], workers[0]) << "the relaxed iteration steals, or the test says little";
    for (std::size_t i = 4; i < workers.size(); ++i) EXPECT_EQ(workers[i], workers[3]) << rows_tree_name(tree) << i;
  }
}

}  // namespace
}  // namespace rows_test
}  // namespace heddle::bench

#endif

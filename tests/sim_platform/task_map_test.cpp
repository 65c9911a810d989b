// With stealing off, adws gives each task to the same worker in every iteration: 64 simulated workers on four sockets.
#if __has_include("backend/heddle.hpp")  // the kernels are not there in a build without benchmarks
#include "bench/task_maps.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/session.hpp"

namespace heddle::bench {
namespace task_map_test {
namespace {

std::vector<task_map> simulated_maps(const char* policy, std::size_t n, std::size_t iterations) {
  sim::session_options o;
  o.machine = "skylake-4x16";
  const sim::session simulation(o);
  settings s;
  s.workers = 64;
  s.policy = policy;
  return heat2d_maps(s, n, iterations);
}

TEST(task_map, is_the_same_in_every_iteration_and_every_run) {
  const auto maps = simulated_maps("adws:steal=off", 1024, 4);
  for (const task_map& map : maps) EXPECT_EQ(map, maps[0]);
  EXPECT_EQ(simulated_maps("adws:steal=off", 1024, 1)[0], maps[0]) << "another run";
  for (int w = 0; w < 64; ++w) EXPECT_EQ(std::count(maps[0].begin(), maps[0].end(), w), 4) << "of worker " << w;
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 16; ++column) {
      const int quarter = static_cast<int>(row / 8 * 2 + column / 8);
      const int socket = maps[0][row * 16 + column] / 16;
      // Which end of its range a task starts from is the policy's; a quarter is one socket's.
      EXPECT_EQ(socket, maps[0][row / 8 * 128 + column / 8 * 8] / 16) << "quarter " << quarter;
    }
  }
}

TEST(task_map, of_constrained_stealing_is_fixed_once_replay_is_strict) {
  const auto maps = simulated_maps("constrained_ws:relws=2", 1024, 8);
  EXPECT_NE(maps[1], maps[0]) << "the relaxed iteration steals, or the test says little";
  for (std::size_t i = 4; i < maps.size(); ++i) EXPECT_EQ(maps[i], maps[3]) << i;
}

// The tasks of an iteration that ran where they ran in the one before, of all that there are.
double kept(const std::vector<task_map>& maps) {
  std::size_t same = 0, all = 0;
  for (std::size_t i = 2; i < maps.size(); ++i) {
    for (std::size_t k = 0; k < maps[i].size(); ++k) same += maps[i][k] == maps[i - 1][k] ? 1 : 0;
    all += maps[i].size();
  }
  return static_cast<double>(same) / static_cast<double>(all);
}

TEST(task_map, of_locality_guided_stealing_keeps_more_than_that_of_random_stealing) {
  const double guided = kept(simulated_maps("locality_ws", 1024, 8)),
               random = kept(simulated_maps("random_ws", 1024, 8));
  EXPECT_LT(random, 0.1);
  EXPECT_GT(guided, 3 * random);
}

TEST(task_map, of_random_stealing_changes) {
  const auto maps = simulated_maps("random_ws", 1024, 3);
  EXPECT_NE(maps[1], maps[2]) << "else the test above says nothing";
}

}  // namespace
}  // namespace task_map_test
}  // namespace heddle::bench

#endif

// With stealing off, adws gives each task to the same worker in every iteration: on real workers here, on simulated
// ones in tests/sim_platform/task_map_test.cpp.
#include "bench/task_maps.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::bench {
namespace task_map_test {
namespace {

TEST(task_map, is_the_same_in_every_iteration_and_every_run) {
  for (const unsigned workers : {1u, 2u, 3u, 4u, 6u}) {
    settings s;
    s.workers = workers;
    s.policy = "adws:steal=off";
    const auto maps = heat2d_maps(s, 512, 6);
    const auto again = heat2d_maps(s, 512, 2);
    for (std::size_t i = 0; i < maps.size(); ++i) EXPECT_EQ(maps[i], maps[0]) << workers << " workers, iteration " << i;
    EXPECT_EQ(again[0], maps[0]) << workers << " workers, another run";
    for (int w = 0; w < static_cast<int>(workers); ++w) {
      const auto blocks = std::count(maps[0].begin(), maps[0].end(), w);
      EXPECT_GE(blocks, 64 / static_cast<int>(workers) - 2) << "of worker " << w << " of " << workers;
    }
    EXPECT_EQ(std::count(maps[0].begin(), maps[0].end(), -1), 0);
  }
}

TEST(task_map, follows_the_hints) {
  settings s;
  s.workers = 4;
  s.policy = "adws:steal=off";
  const heat2d_memory memory(256, touch::first);
  const task_map map = heat2d_maps(s, 256, 1)[0];
  // Four workers, four quarters.
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      EXPECT_EQ(map[row * 4 + column], map[row / 2 * 8 + column / 2 * 2]) << row << ", " << column;
    }
  }
}

}  // namespace
}  // namespace task_map_test
}  // namespace heddle::bench

// Fast and slow processors share a loop by speed: oneTBB #1270.
#include <heddle/parallel_for.hpp>
#include <heddle/runtime.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "support/watchdog.hpp"

namespace {

// Counted work, not time: a preempted worker does not count as fast.
void work(int units) {
  for (int i = 0; i < 4000 * units; ++i) asm volatile("" : : "r"(i));
}

void expect_shared_by_speed(heddle::loop_options options) {
  heddle_test::watchdog guard("speed");
  constexpr int rounds = 20, iterations = 2000;
  constexpr int slowness = 12;
  heddle::runtime rt({.workers = 2, .bind = "off"});
  std::array<std::atomic<long>, 2> done{};
  rt.run([&] {
    for (int round = 0; round < rounds; ++round) {
      heddle::parallel_for(0, iterations, [&](int) {
        const int rank = rt.worker_rank();
        work(rank == 1 ? slowness : 1);
        ++done[static_cast<std::size_t>(rank)];
      }, options);
    }
  });
  EXPECT_EQ(done[0] + done[1], rounds * iterations);
  EXPECT_GT(done[1], 0);
  // Shared by number it would be a half.
  EXPECT_LT(done[1].load(), rounds * iterations / 3);
}

TEST(onetbb_1270_speed, a_slow_worker_gets_fewer_iterations) { expect_shared_by_speed({}); }
TEST(onetbb_1270_speed, with_a_grain_of_one_too) { expect_shared_by_speed({.grain = 1}); }

}  // namespace

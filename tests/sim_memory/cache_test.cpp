#include "sim/cache.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sim_memory/naive.hpp"

namespace heddle::sim {
namespace cache_test {
namespace {

TEST(cache_shape, cuts_capacity_into_sets) {
  const cache_shape l1 = cache_shape::of(32768, 64, 8);
  EXPECT_EQ(l1.sets, 64u);
  EXPECT_EQ(l1.ways, 8u);
  const cache_shape odd = cache_shape::of(22 * 1024 * 1024, 64, 11);
  EXPECT_EQ(odd.sets, 32768u);
  EXPECT_EQ(odd.ways, 11u);
  const cache_shape thirds = cache_shape::of(12 * 1024 * 1024, 64, 16);
  EXPECT_EQ(thirds.sets, 12288u);
  const cache_shape full = cache_shape::of(6400, 64, -1);
  EXPECT_EQ(full.sets, 1u);
  EXPECT_EQ(full.ways, 100u);
  EXPECT_EQ(cache_shape::of(1, 64, 4).ways, 1u);
  EXPECT_EQ(cache_shape::of(4096, 64, 0).ways, 8u);
}

class against_naive : public testing::TestWithParam<cache_shape> {};

TEST_P(against_naive, same_hits_and_removals) {
  const cache_shape shape = GetParam();
  cache fast(shape);
  naive::cache plain(shape.sets, shape.ways);
  std::mt19937_64 random(7);
  const std::uint64_t lines = std::uint64_t{shape.sets} * shape.ways * 2;
  std::uint64_t hits = 0, removals = 0;
  for (int i = 0; i < 60'000; ++i) {
    // Half of the accesses go to a tenth of the lines.
    const std::uint64_t spread = random() % 2 == 0 ? lines : lines / 10 + 1;
    const auto line = static_cast<line_number>(random() % spread);
    if (random() % 16 == 0) {
      ASSERT_EQ(fast.contains(line), plain.remove(line));
      removals += fast.remove(line) ? 1 : 0;
      ASSERT_FALSE(fast.contains(line));
    } else {
      const bool hit = plain.access(line);
      ASSERT_EQ(fast.access(line), hit) << "access " << i;
      ASSERT_TRUE(fast.contains(line));
      hits += hit ? 1 : 0;
    }
    if (i == 40'000) {
      fast.clear();
      plain = naive::cache(shape.sets, shape.ways);
      ASSERT_FALSE(fast.contains(line));
    }
  }
  EXPECT_GT(hits, 1000u);
  EXPECT_GT(removals, 10u);
}

INSTANTIATE_TEST_SUITE_P(shapes, against_naive,
                         testing::Values(cache_shape{1, 1}, cache_shape{1, 2}, cache_shape{64, 1}, cache_shape{16, 8},
                                         cache_shape{12, 16}, cache_shape{7, 11}, cache_shape{3, 20},
                                         cache_shape{5, 31}, cache_shape{4, 32}, cache_shape{1, 33},
                                         cache_shape{1, 100}, cache_shape{6, 40}, cache_shape{1, 500}),
                         [](const auto& info) {
                           return std::to_string(info.param.sets) + "x" + std::to_string(info.param.ways);
                         });

}  // namespace
}  // namespace cache_test
}  // namespace heddle::sim

// Loops over boxes: every position once, tiles as they are asked for, bounds that are wrong; over workers and policies.
#include <heddle/box.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "support/waiting.hpp"

namespace box_test {
namespace {

using namespace heddle;

class loops_over_boxes : public heddle_test::waiting {};

TEST_P(loops_over_boxes, every_position_is_visited_once) {
  run([&] {
    for (std::size_t rows : {0, 1, 3, 16, 67}) {
      for (std::size_t columns : {0, 1, 5, 64, 131}) {
        std::vector<std::atomic<int>> seen(rows * columns);
        parallel_for(box({0, rows}, {0, columns}), [&](std::size_t i, std::size_t j) { ++seen[i * columns + j]; });
        parallel_for_range(box({0, rows}, {0, columns}),
                           [&](const box<2>& tile) {
                             for (std::size_t i = tile[0].low; i < tile[0].high; ++i)
                               for (std::size_t j = tile[1].low; j < tile[1].high; ++j) ++seen[i * columns + j];
                           },
                           {.tile = {2, 7}});
        for (const auto& x : seen) ASSERT_EQ(x.load(), 2) << rows << " x " << columns;
      }
    }
    progress();
    std::vector<std::atomic<int>> seen(9 * 10 * 11);
    parallel_for(box({1, 10}, {2, 12}, {3, 14}),
                 [&](std::size_t i, std::size_t j, std::size_t k) { ++seen[((i - 1) * 10 + j - 2) * 11 + k - 3]; });
    for (const auto& x : seen) ASSERT_EQ(x.load(), 1);
    parallel_for(box({0, 99}, {0, 10}), [&](std::size_t i, std::size_t j) { ++seen[i * 10 + j]; },
                 {.tile = {4, 4}, .schedule = schedule::dynamic(3)});
    for (const auto& x : seen) ASSERT_EQ(x.load(), 2);
    std::atomic<int> calls{0};
    const box<4> four(index_range(0, 3), index_range(0, 4), index_range(2, 4), index_range(5, 6));
    parallel_for(four, [&](std::size_t, std::size_t, std::size_t, std::size_t l) { calls += static_cast<int>(l); });
    EXPECT_EQ(calls.load(), 3 * 4 * 2 * 5);
  });
}

TEST_P(loops_over_boxes, no_side_of_a_tile_is_longer_than_asked_for) {
  run([] {
    std::mutex guard;
    std::vector<box<2>> tiles;
    parallel_for_range(box({10, 40}, {0, 50}),
                       [&](const box<2>& tile) {
                         std::lock_guard hold(guard);
                         tiles.push_back(tile);
                       },
                       {.tile = {8, 20}});
    EXPECT_EQ(tiles.size(), 4u * 3u);
    std::size_t positions = 0;
    for (const auto& t : tiles) {
      EXPECT_LE(t[0].size(), 8u);
      EXPECT_LE(t[1].size(), 20u);
      EXPECT_GE(t[0].low, 10u);
      EXPECT_LE(t[0].high, 40u);
      positions += t.size();
    }
    EXPECT_EQ(positions, 30u * 50u);
  });
}

TEST_P(loops_over_boxes, tiles_that_are_chosen_are_small_and_many) {
  run([&] {
    std::mutex guard;
    std::size_t count = 0, largest = 0, widest = 0;
    parallel_for_range(box({0, 1000}, {0, 1000}), [&](const box<2>& tile) {
      std::lock_guard hold(guard);
      ++count;
      largest = std::max(largest, tile.size());
      widest = std::max(widest, tile[1].size());
    });
    EXPECT_LE(largest, 2048u);
    EXPECT_GE(count, std::size_t{64} * runtime().workers());
    EXPECT_GE(widest, std::size_t{16}) << "no neighbours in memory";
  });
}

TEST_P(loops_over_boxes, an_exception_and_a_stop) {
  run([] {
    EXPECT_THROW(parallel_for(box({0, 30}, {0, 30}),
                              [](std::size_t i, std::size_t j) {
                                if (i == 20 && j == 7) throw std::runtime_error("here");
                              }),
                 std::runtime_error);
    std::stop_source stop;
    stop.request_stop();
    std::atomic<int> calls{0};
    parallel_for(box({0, 300}, {0, 300}), [&](std::size_t, std::size_t) { ++calls; }, {.stop = stop.get_token()});
    EXPECT_EQ(calls.load(), 0);
  });
}

TEST(boxes, bounds_that_cannot_be_are_refused) {
  EXPECT_THROW(index_range(-1, 5), std::out_of_range);
  EXPECT_THROW(index_range(0, -5), std::out_of_range);
  EXPECT_EQ(index_range(7, 3).size(), 0u);
  EXPECT_EQ(index_range(std::uint8_t{3}, 300L).size(), 297u);
  constexpr std::size_t many = std::size_t{1} << 40;
  EXPECT_THROW(static_cast<void>(box({0, many}, {0, many}).size()), std::length_error);
  EXPECT_EQ(box({0, many}, {0, many}, {4, 4}).size(), 0u) << "an empty side makes it empty";
  EXPECT_THROW(parallel_for(box({0, many}, {0, many}), [](std::size_t, std::size_t) {}), std::length_error);
}

HEDDLE_OVER_RUNTIMES(loops_over_boxes);

}  // namespace
}  // namespace box_test

// The theory of parallel loops on a shared cache (Tchiboukdjian, Danjean, Gautier, Le Mentec,
// Raffin), on the access stream of marching cells over a structured mesh: a cell reads its
// eight corners, and neighbouring cells share points. Both schedules are replayed through the
// memory model; the prediction comes from the reuse distances of the serial stream.
#include <heddle/reuse_distance.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "sim/flat_machine.hpp"
#include "sim/memory_model.hpp"

namespace heddle::sim {
namespace shared_loops_test {
namespace {

constexpr unsigned cores = 4;
constexpr std::uint64_t side = 24, layers = 64, cells = side * side * layers;
constexpr std::uint64_t point_bytes = 16, line_bytes = 64;
constexpr unsigned corners = 8;

std::uint64_t corner(std::uint64_t cell, unsigned which) {
  const std::uint64_t x = cell % side + (which & 1), y = cell / side % side + (which >> 1 & 1),
                      z = cell / (side * side) + (which >> 2);
  return ((z * (side + 1) + y) * (side + 1) + x) * point_bytes;
}

reuse_distance serial_distances() {
  reuse_distance distances;
  for (std::uint64_t cell = 0; cell < cells; ++cell) {
    for (unsigned c = 0; c < corners; ++c) distances.access(corner(cell, c) / line_bytes);
  }
  return distances;
}

// Chunks of `window` cells one after the other; in each, the cores
// have equal parts and go through them access by access.
std::uint64_t parallel_misses(std::uint64_t capacity, std::uint64_t window) {
  const cache_form shared[] = {{machine::group_kind::l3, capacity * line_bytes, -1}};
  memory_model model(bare_machine("l3:1 pu:4", shared));
  for (std::uint64_t chunk = 0; chunk < cells; chunk += window) {
    const std::uint64_t part = std::min(window, cells - chunk) / cores;
    for (std::uint64_t i = 0; i < part; ++i) {
      for (unsigned c = 0; c < corners; ++c) {
        for (unsigned core = 0; core < cores; ++core)
          model.access(core, corner(chunk + core * part + i, c), point_bytes, false, 0);
      }
    }
  }
  EXPECT_EQ(model.levels()[0].accesses, cells * corners);
  return model.levels()[0].misses;
}

// r(m): most lines that m cells in a row touch.
std::uint64_t reach(std::uint64_t window) {
  std::size_t most = 0;
  for (std::uint64_t first = 0; first + window <= cells; first += side) {
    std::unordered_set<std::uint64_t> lines;
    for (std::uint64_t cell = first; cell < first + window; ++cell) {
      for (unsigned c = 0; c < corners; ++c) lines.insert(corner(cell, c) / line_bytes);
    }
    most = std::max(most, lines.size());
  }
  return most;
}

constexpr std::uint64_t lines_of_a_layer = (side + 1) * (side + 1) * point_bytes / line_bytes;

TEST(shared_loops, cores_far_apart_miss_as_one_core_with_a_part_of_the_cache) {
  const reuse_distance serial = serial_distances();
  for (const std::uint64_t capacity : {16, 40, 64, 100, 160, 400, 800, 1200, 1240, 1260, 1280, 1300, 1400, 2000}) {
    const std::uint64_t predicted = serial.misses_apart(capacity, cores);
    const std::uint64_t got = parallel_misses(capacity, cells);
    RecordProperty("capacity_" + std::to_string(capacity),
                   std::to_string(got) + " predicted " + std::to_string(predicted));
    // At the seams two cores read the same layer.
    const double slack = 0.01 * static_cast<double>(predicted) + static_cast<double>((cores - 1) * lines_of_a_layer);
    EXPECT_NEAR(static_cast<double>(got), static_cast<double>(predicted), slack) << "capacity " << capacity << " lines";
  }
}

TEST(shared_loops, the_window_bound_holds) {
  const reuse_distance serial = serial_distances();
  for (const std::uint64_t window : {4, 24, 48, 96, 192}) {
    const std::uint64_t r = reach(window);
    for (const std::uint64_t capacity : {16, 40, 64, 100, 160, 200, 300, 320, 340, 400, 480, 1200}) {
      EXPECT_LE(parallel_misses(capacity, window), serial.misses_within(capacity, r))
          << "window " << window << " capacity " << capacity << " r " << r;
    }
  }
}

// As the slides show, with a window the shared cache serves four cores as well as one.
TEST(shared_loops, a_window_keeps_the_serial_misses_where_none_loses_them) {
  const reuse_distance serial = serial_distances();
  const std::uint64_t capacity = 3 * lines_of_a_layer;  // the two layers that a cell touches fit; eight do not
  const std::uint64_t alone = serial.misses(capacity), window = parallel_misses(capacity, 48),
                      apart = parallel_misses(capacity, cells);
  EXPECT_LT(static_cast<double>(window), 1.02 * static_cast<double>(alone));
  EXPECT_GT(static_cast<double>(apart), 1.5 * static_cast<double>(alone));
}

}  // namespace
}  // namespace shared_loops_test
}  // namespace heddle::sim

// Reuse distances: against their definition by brute force, samples against all, windows against arithmetic. Misses
// against the simulator's caches: tests/sim_memory/reuse_distance_test.cpp.
#include <heddle/reuse_distance.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

namespace heddle {
namespace reuse_distance_test {
namespace {

// Recent, hot and uniform accesses, and a sweep.
std::vector<std::uint64_t> mixed_stream(unsigned seed, std::size_t length, std::uint64_t elements) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> stream;
  std::uint64_t sweep = 0;
  while (stream.size() < length) {
    switch (random() % 4) {
      case 0:
        stream.push_back(
            stream.empty() ? 0 : stream[stream.size() - 1 - random() % std::min<std::size_t>(stream.size(), 20)]);
        break;
      case 1: stream.push_back(random() % (elements / 8 + 1)); break;
      case 2: stream.push_back(random() % elements); break;
      default: stream.push_back(sweep++ % elements); break;
    }
  }
  return stream;
}

reuse_distance of(const std::vector<std::uint64_t>& stream, double rate = 1) {
  reuse_distance distances(rate);
  for (const std::uint64_t element : stream) distances.access(element);
  return distances;
}

// Of a fully associative least-recently-used cache, by keeping one.
std::uint64_t naive_misses(const std::vector<std::uint64_t>& stream, std::size_t capacity) {
  std::vector<std::uint64_t> cache;  // last used first
  std::uint64_t misses = 0;
  for (const std::uint64_t element : stream) {
    const auto at = std::find(cache.begin(), cache.end(), element);
    if (at != cache.end()) cache.erase(at);
    else ++misses;
    cache.insert(cache.begin(), element);
    if (cache.size() > capacity) cache.pop_back();
  }
  return misses;
}

double naive_footprint(const std::vector<std::uint64_t>& stream, std::size_t length) {
  double sum = 0;
  for (std::size_t first = 0; first + length <= stream.size(); ++first) {
    sum += static_cast<double>(std::set<std::uint64_t>(stream.begin() + static_cast<std::ptrdiff_t>(first),
                                                       stream.begin() + static_cast<std::ptrdiff_t>(first + length))
                                   .size());
  }
  return sum / static_cast<double>(stream.size() - length + 1);
}

TEST(reuse_distance, misses_of_every_capacity_by_brute_force) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const auto stream = mixed_stream(seed, 2000, 70);
    const reuse_distance distances = of(stream);
    for (std::size_t capacity = 0; capacity <= 75; ++capacity)
      ASSERT_EQ(distances.misses(capacity), capacity == 0 ? stream.size() : naive_misses(stream, capacity)) << capacity;
  }
}

TEST(reuse_distance, the_curve_and_the_histogram_say_the_same) {
  const auto stream = mixed_stream(4, 5000, 300);
  const reuse_distance distances = of(stream);
  const auto curve = distances.curve();
  ASSERT_EQ(curve.front().capacity, 0u);
  EXPECT_EQ(curve.front().misses, stream.size());
  EXPECT_EQ(curve.back().misses, distances.elements());
  std::size_t at = 0;
  for (std::uint64_t capacity = 0; capacity <= 310; ++capacity) {
    while (at + 1 < curve.size() && curve[at + 1].capacity <= capacity) ++at;
    ASSERT_EQ(curve[at].misses, distances.misses(capacity)) << capacity;
  }
  std::uint64_t sum = distances.elements();
  for (const auto& [distance, accesses] : distances.histogram()) {
    EXPECT_EQ(accesses, distances.misses(distance - 1) - distances.misses(distance)) << distance;
    sum += accesses;
  }
  EXPECT_EQ(sum, stream.size());
}

TEST(reuse_distance, footprints_by_brute_force) {
  const auto stream = mixed_stream(5, 1500, 200);
  const reuse_distance distances = of(stream);
  for (const std::size_t length : {1, 2, 3, 10, 50, 127, 128, 200, 500, 1000, 1499, 1500}) {
    const double expected = naive_footprint(stream, length);
    EXPECT_NEAR(distances.footprint(length), expected, 0.005 * expected + 1e-9) << length;
  }
  EXPECT_EQ(distances.footprint(0), 0);
}

TEST(reuse_distance, samples_are_near_to_all) {
  constexpr std::uint64_t elements = 40'000;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const auto stream = mixed_stream(seed, 400'000, elements);
    const reuse_distance all = of(stream), some = of(stream, 0.1);
    EXPECT_EQ(some.accesses(), stream.size());
    EXPECT_NEAR(static_cast<double>(some.elements()), static_cast<double>(all.elements()), 0.05 * elements);
    for (std::uint64_t capacity = 64; capacity <= 2 * elements; capacity *= 2) {
      const double part = static_cast<double>(some.misses(capacity)) - static_cast<double>(all.misses(capacity));
      EXPECT_LT(std::abs(part) / static_cast<double>(stream.size()), 0.03) << "seed " << seed << ", " << capacity;
    }
    for (const std::uint64_t length : {100, 10'000, 100'000}) {
      EXPECT_NEAR(some.footprint(length), all.footprint(length), 0.06 * all.footprint(length)) << length;
    }
  }
}

TEST(reuse_distance, a_sample_takes_a_part_of_the_elements_and_gives_no_distance_of_the_others) {
  reuse_distance some(0.25);
  std::uint64_t looked_at = 0;
  for (std::uint64_t element = 0; element < 10'000; ++element) {
    const std::uint64_t distance = some.access(element);
    if (distance == reuse_distance::not_sampled) continue;
    EXPECT_EQ(distance, reuse_distance::infinite);
    ++looked_at;
  }
  EXPECT_NEAR(static_cast<double>(looked_at), 2500, 200);
}

TEST(reuse_distance, a_sweep_fits_or_misses_throughout) {
  reuse_distance sweeps;
  for (int sweep = 0; sweep < 5; ++sweep) {
    for (std::uint64_t element = 0; element < 1000; ++element) sweeps.access(element);
  }
  EXPECT_EQ(sweeps.misses(999), 5000u);
  EXPECT_EQ(sweeps.misses(1000), 1000u);
  EXPECT_EQ(sweeps.misses_apart(4000, 4), 1000u);
  EXPECT_EQ(sweeps.misses_apart(3999, 4), 5000u);
  EXPECT_EQ(sweeps.misses_within(1500, 500), 1000u);
  EXPECT_EQ(sweeps.misses_within(1500, 501), 5000u);
  EXPECT_EQ(sweeps.misses_within(1500, 2000), 5000u) << "no cache is left";
}

// Uniformly random accesses: a cache of C of N elements has C of them, whichever they are.
TEST(reuse_distance, random_accesses_hit_as_often_as_the_cache_is_large) {
  constexpr std::uint64_t elements = 2000, accesses = 200'000;
  std::mt19937_64 random(7);
  reuse_distance distances;
  for (std::uint64_t k = 0; k < accesses; ++k) distances.access(random() % elements);
  for (const std::uint64_t capacity : {200, 500, 1000, 1500}) {
    const double expected = accesses * (1 - static_cast<double>(capacity) / elements);
    EXPECT_NEAR(static_cast<double>(distances.misses(capacity)), expected, 0.02 * accesses) << capacity;
  }
}

// A sweep over rows of a stencil of two planes: until a row is read again, a plane later, two planes' rows are. A
// window may have what the cache has beyond them.
TEST(reuse_distance, the_window_of_a_stencil_is_what_the_cache_has_to_spare) {
  constexpr std::uint64_t row = 8, rows = 100, planes = 40, plane = row * rows;
  for (const double rate : {1.0, 0.2}) {
    reuse_distance distances(rate);
    for (std::uint64_t z = 0; z < planes; ++z) {
      for (std::uint64_t y = 0; y < rows; ++y) {
        for (std::uint64_t x = 0; x < row; ++x) {
          distances.access(z * plane + y * row + x);
          distances.access((z + 1) * plane + y * row + x);
        }
        distances.next_iteration();
      }
    }
    constexpr std::uint64_t capacity = 3 * plane;
    const window_proposal w = distances.propose_window(capacity, 4);
    ASSERT_EQ(w.why, window_proposal::reason::window);
    // m iterations touch two rows each, and one plane is to spare, less what is accessed while a row is.
    EXPECT_NEAR(static_cast<double>(w.length), rows / 2.0, rate == 1 ? 1.5 : 12);
    EXPECT_NEAR(distances.reach(w.length), static_cast<double>(w.reach), 1);
    const auto alone = static_cast<double>(w.misses_alone);
    EXPECT_NEAR(alone, static_cast<double>((planes + 1) * plane), (rate == 1 ? 0 : 0.1) * alone);
    EXPECT_NEAR(static_cast<double>(w.misses_apart), static_cast<double>(2 * planes * plane), 0.1 * 2 * planes * plane);
    EXPECT_LE(static_cast<double>(w.misses_within), 1.05 * alone);
    EXPECT_EQ(distances.propose_window(9 * plane, 4).why, window_proposal::reason::fits);
    EXPECT_EQ(distances.propose_window(2 * plane + plane / 40, 4).why, window_proposal::reason::too_long);
    EXPECT_EQ(distances.propose_window(capacity, 1).why, window_proposal::reason::no_sharing);
    EXPECT_EQ(distances.propose_window(0, 4).why, window_proposal::reason::no_sharing);
  }
}

TEST(reuse_distance, an_empty_stream_has_nothing) {
  const reuse_distance none;
  EXPECT_EQ(none.misses(0), 0u);
  EXPECT_EQ(none.misses(100), 0u);
  EXPECT_EQ(none.footprint(5), 0);
  EXPECT_EQ(none.reach(5), 0);
  EXPECT_TRUE(none.histogram().empty());
  EXPECT_EQ(none.propose_window(100, 4).length, 0u);
}

TEST(reuse_distance, an_impossible_rate_is_named) {
  for (const double rate : {0.0, -1.0, 1.5, std::nan("")}) {
    EXPECT_THROW(reuse_distance{rate}, std::invalid_argument) << rate;
  }
}

}  // namespace
}  // namespace reuse_distance_test
}  // namespace heddle

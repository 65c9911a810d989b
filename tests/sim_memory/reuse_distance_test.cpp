#include <heddle/reuse_distance.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string_view>

#include "sim/flat_machine.hpp"
#include "sim/memory_model.hpp"

namespace heddle::sim {
namespace reuse_distance_test {
namespace {

using machine::group_kind;

std::uint64_t naive_distance(const std::vector<std::uint64_t>& before, std::uint64_t element) {
  std::set<std::uint64_t> seen;
  for (auto at = before.rbegin(); at != before.rend(); ++at) {
    seen.insert(*at);
    if (*at == element) return seen.size();
  }
  return reuse_distance::infinite;
}

// Reuses of all lengths: recent, hot, uniform, and a sweep.
std::vector<std::uint64_t> random_trace(unsigned seed, std::size_t length, std::uint64_t elements) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> trace;
  std::uint64_t sweep = 0;
  while (trace.size() < length) {
    switch (random() % 4) {
      case 0:
        trace.push_back(trace.empty() ? 0
                                      : trace[trace.size() - 1 - random() % std::min<std::size_t>(trace.size(), 20)]);
        break;
      case 1: trace.push_back(random() % (elements / 8 + 1)); break;
      case 2: trace.push_back(random() % elements); break;
      default: trace.push_back(sweep++ % elements); break;
    }
  }
  return trace;
}

TEST(reuse_distance, of_the_slides_example) {
  constexpr std::string_view elements = "ABABBCBAC";
  constexpr std::uint64_t none = reuse_distance::infinite;
  const std::vector<std::uint64_t> expected = {none, none, 2, 2, 1, none, 2, 3, 3};
  reuse_distance distances;
  for (std::size_t i = 0; i < elements.size(); ++i)
    EXPECT_EQ(distances.access(static_cast<std::uint64_t>(elements[i])), expected[i]) << i;
  EXPECT_EQ(distances.accesses(), 9u);
  EXPECT_EQ(distances.elements(), 3u);
  EXPECT_EQ(distances.misses(3), 3u);
  EXPECT_EQ(distances.misses(2), 5u);
  EXPECT_EQ(distances.misses(1), 8u);
  EXPECT_EQ(distances.misses(0), 9u);
}

TEST(reuse_distance, equals_its_definition) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    reuse_distance distances;
    std::vector<std::uint64_t> before;
    for (const std::uint64_t element : random_trace(seed, 3000, 60 * seed)) {
      ASSERT_EQ(distances.access(element), naive_distance(before, element))
          << "seed " << seed << " access " << before.size();
      before.push_back(element);
    }
  }
}

// The first of the model's checks: for every capacity, the misses of
// a fully associative cache are those that the distances say.
TEST(reuse_distance, misses_of_the_memory_model_for_every_capacity) {
  constexpr std::uint64_t elements = 150;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const std::vector<std::uint64_t> trace = random_trace(seed, 20'000, elements);
    reuse_distance distances;
    for (const std::uint64_t element : trace) distances.access(element);
    for (std::uint64_t capacity = 1; capacity <= elements + 5; ++capacity) {
      const cache_form form[] = {{group_kind::l1, capacity * 64, -1}};
      memory_model model(bare_machine("l1:1 pu:1", form));
      for (const std::uint64_t element : trace) model.access(0, element * 64, 8, element % 3 == 0, 0);
      ASSERT_EQ(model.levels()[0].misses, distances.misses(capacity)) << "seed " << seed << " capacity " << capacity;
      ASSERT_EQ(model.levels()[0].accesses, trace.size());
    }
  }
}

TEST(reuse_distance, long_streams_stay_small) {
  reuse_distance distances;
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    const std::uint64_t distance = distances.access(i % 1000);
    ASSERT_EQ(distance, i < 1000 ? reuse_distance::infinite : 1000u);
  }
  EXPECT_EQ(distances.misses(999), 300'000u);
  EXPECT_EQ(distances.misses(1000), 1000u);
}

}  // namespace
}  // namespace reuse_distance_test
}  // namespace heddle::sim

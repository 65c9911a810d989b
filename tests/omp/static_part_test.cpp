// The arithmetic of loops: every iteration belongs to one member, whatever the type, the step and the limits.
#include "omp/kmp/static_part.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace static_part_test {
namespace {

using namespace heddle::omp;
using namespace heddle::omp::kmp;

template <class T>
struct range {
  T lower;
  T upper;
  signed_of<T> step;
};

// All values of the loop in order, and how often each is handed out: as the compiler's code walks through parts.
template <class T>
std::vector<int> handed_out(const range<T>& loop, std::uint64_t members, signed_of<T> chunk, int& lasts) {
  const std::uint64_t trips = trips_of<T>(loop.lower, loop.upper, loop.step);
  std::vector<int> seen(trips, 0);
  lasts = 0;
  for (std::uint64_t number = 0; number < members; ++number) {
    T lower = loop.lower;
    T upper = loop.upper;
    signed_of<T> stride = 0;
    std::int32_t last = -1;
    part<T>({number, members}, chunk != 0, &last, &lower, &upper, &stride, loop.step, chunk);
    lasts += last;
    std::uint64_t from = trips_of<T>(loop.lower, lower, loop.step) - 1;
    const std::uint64_t count = trips_of<T>(lower, upper, loop.step);
    if (trips == 0 || count == 0) continue;
    const std::uint64_t by = chunk != 0 ? static_cast<std::uint64_t>(chunk) * members : trips;
    if (chunk != 0 && chunks_of(trips, static_cast<std::uint64_t>(chunk)) > members) {
      EXPECT_EQ(stride, static_cast<signed_of<T>>(by * static_cast<std::uint64_t>(std::int64_t{loop.step})));
    }
    for (; from < trips; from += by)
      for (std::uint64_t i = from; i < from + (chunk != 0 ? static_cast<std::uint64_t>(chunk) : count) && i < trips;
           ++i)
        ++seen[i];
  }
  return seen;
}

template <class T>
void each_once(const range<T>& loop) {
  for (const std::uint64_t members : {1, 2, 3, 4, 7, 16, 64})
    for (const int chunk : {0, 1, 2, 5, 100}) {
      int lasts = 0;
      const std::vector<int> seen = handed_out<T>(loop, members, static_cast<signed_of<T>>(chunk), lasts);
      EXPECT_EQ(lasts, seen.empty() ? 0 : 1) << members << " members, chunk " << chunk;
      for (std::size_t i = 0; i < seen.size(); ++i)
        ASSERT_EQ(seen[i], 1) << "iteration " << i << ", " << members << " members, chunk " << chunk;
    }
}

TEST(static_part, every_iteration_once_for_all_types) {
  each_once<std::int32_t>({0, 99, 1});
  each_once<std::int32_t>({-7, 50, 3});
  each_once<std::int32_t>({50, -7, -3});
  each_once<std::int32_t>({5, 4, 1});
  each_once<std::uint32_t>({0, 10, 1});
  each_once<std::uint32_t>({10, 0, -1});
  each_once<std::int64_t>({-100, 100, 7});
  each_once<std::uint64_t>({1, 64, 9});
}

// How many iterations a member runs with the code that clang makes of a chunked loop; no more than `most` are counted.
template <class T>
std::uint64_t run_by(std::uint64_t number, std::uint64_t members, T upper_of_loop, signed_of<T> chunk,
                     std::uint64_t most) {
  using bits = std::make_unsigned_t<T>;
  T lower = 0, upper = upper_of_loop;
  signed_of<T> stride = 0;
  part<T>({number, members}, true, nullptr, &lower, &upper, &stride, 1, chunk);
  std::uint64_t run = 0;
  upper = std::min(upper, upper_of_loop);
  while (lower <= upper && run <= most) {
    run += static_cast<std::uint64_t>(upper - lower) + 1;
    lower = static_cast<T>(static_cast<bits>(lower) + static_cast<bits>(stride));
    upper = std::min(static_cast<T>(static_cast<bits>(upper) + static_cast<bits>(stride)), upper_of_loop);
  }
  return run;
}

// A chunk times the members is beyond the type.
TEST(static_part, large_chunks) {
  for (const std::uint64_t members : {1, 2, 3, 4, 5, 7, 8, 16, 64}) {
    for (const std::int32_t chunk :
         {1, 300, 999, 1'000, 1'001, 1 << 28, 1'000'000'000, 1 << 30, std::numeric_limits<std::int32_t>::max()}) {
      for (const std::uint32_t trips : {1u, 1'000u, 1'000'000u}) {
        std::uint64_t narrow = 0, wide = 0;
        for (std::uint64_t m = 0; m < members; ++m) {
          narrow += run_by<std::int32_t>(m, members, static_cast<std::int32_t>(trips - 1), chunk, trips);
          wide += run_by<std::int64_t>(m, members, trips - 1, std::int64_t{chunk} << 32, trips);
        }
        EXPECT_EQ(narrow, trips) << members << " members, chunk " << chunk;
        EXPECT_EQ(wide, trips) << members << " members, chunk " << chunk << " << 32";
      }
    }
  }
}

TEST(static_part, limits_of_types) {
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  constexpr auto least = std::numeric_limits<std::int32_t>::min();
  each_once<std::int32_t>({most - 9, most, 1});
  each_once<std::int32_t>({least + 9, least, -1});
  each_once<std::int32_t>({least, most, 1 << 28});
  each_once<std::uint32_t>({0xfffffff0u, 0xffffffffu, 1});
  each_once<std::uint64_t>({~std::uint64_t{20}, ~std::uint64_t{0}, 3});
  each_once<std::int64_t>({std::numeric_limits<std::int64_t>::max() - 5, std::numeric_limits<std::int64_t>::max(), 2});
}

TEST(static_part, even_parts_differ_by_one_at_most) {
  for (const std::uint64_t trips : {0, 1, 5, 16, 17, 1000})
    for (const std::uint64_t parts : {1, 2, 3, 16, 33}) {
      std::uint64_t next = 0;
      for (std::uint64_t number = 0; number < parts; ++number) {
        const block b = even_part(trips, number, parts);
        EXPECT_EQ(b.first, next);
        EXPECT_LE(trips / parts, b.count);
        EXPECT_LE(b.count, trips / parts + 1);
        next += b.count;
      }
      EXPECT_EQ(next, trips);
    }
}

}  // namespace
}  // namespace static_part_test

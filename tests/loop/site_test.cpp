// When a call site's loops count as uneven: heddle/detail/loop_site.hpp; the argument in src/loop/sites.md.
#include <heddle/detail/loop_site.hpp>

#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

namespace site_test {
namespace {

using heddle::detail::loop_site;

constexpr std::size_t n = 1000;
constexpr std::uint64_t ticks_of_a_loop = 100'000;

// A site that knows its iterations, and what its loops do from then on.
struct site : loop_site {
  site() { observe(n, ticks_of_a_loop); }

  void loops(int count) {
    for (; count > 0; --count) age();
  }
  // A loop in which [low, high) took `ticks`.
  void surprised_at(std::size_t low, std::size_t high, std::uint64_t ticks) {
    age();
    surprise(low, high, n, ticks);
  }
};

// As when its first loop was stopped before it began. Else the cost of an iteration would be infinite, the lateness not
// a number, and the first half of the next loop on two workers longer than the loop.
TEST(loop_site, a_loop_that_ran_nothing_teaches_nothing) {
  loop_site s;
  s.observe(0, 0);
  EXPECT_FALSE(s.is_known());
  s.learn_lateness(n, 1000, 0);
  s.observe(n, ticks_of_a_loop);
  EXPECT_TRUE(s.is_known());
  EXPECT_LE(s.head_start(n), n / 2);
  s.learn_lateness(n, 1000, 0);
  EXPECT_LE(s.head_start(n), n / 2);
}

TEST(loop_site, two_long_blocks_at_one_place_are_the_loops_own) {
  site s;
  s.surprised_at(900, 1000, ticks_of_a_loop);
  EXPECT_FALSE(s.is_uneven());
  s.surprised_at(950, 1000, ticks_of_a_loop);
  EXPECT_TRUE(s.is_uneven());
  s.loops(64);
  EXPECT_FALSE(s.is_uneven());
}

TEST(loop_site, neighbouring_blocks_are_one_place) {
  site s;
  s.surprised_at(900, 950, ticks_of_a_loop);
  s.surprised_at(950, 1000, ticks_of_a_loop);
  EXPECT_TRUE(s.is_uneven());
}

TEST(loop_site, interruptions_come_anywhere) {
  site s;
  for (const std::size_t low : {0, 500, 200, 800, 400, 700, 100}) {
    s.surprised_at(low, low + 50, 10 * ticks_of_a_loop);
    EXPECT_FALSE(s.is_uneven());
  }
}

TEST(loop_site, of_two_dear_places_the_first_is_found) {
  site s;
  for (int i = 0; i < 2; ++i) {
    s.surprised_at(100, 150, ticks_of_a_loop);
    s.surprise(900, 950, n, ticks_of_a_loop);
  }
  EXPECT_TRUE(s.is_uneven());
}

TEST(loop_site, what_is_a_small_part_of_the_work_is_not_worth_balancing) {
  site seldom;
  seldom.surprised_at(900, 1000, ticks_of_a_loop);
  seldom.loops(39);
  seldom.surprised_at(900, 1000, 2 * ticks_of_a_loop);  // of the work of forty loops
  EXPECT_FALSE(seldom.is_uneven());

  site small;
  for (int i = 0; i < 3; ++i) small.surprised_at(900, 1000, ticks_of_a_loop / 20);
  EXPECT_FALSE(small.is_uneven());
}

TEST(loop_site, a_surprise_is_forgotten) {
  site s;
  s.surprised_at(900, 1000, ticks_of_a_loop);
  s.loops(64);
  s.surprised_at(900, 1000, 100 * ticks_of_a_loop);
  EXPECT_FALSE(s.is_uneven());
}

}  // namespace
}  // namespace site_test

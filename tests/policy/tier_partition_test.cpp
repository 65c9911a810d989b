// The formulas of CAB and LAWS, with the examples of the book and by their definitions.
#include "policy/sockets/tier_partition.hpp"
#include "policy/sockets/socket_homes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace tier_partition_test {
namespace {

using namespace heddle::policy;

constexpr double mib = 1 << 20;

// Section 3.8.2: Heat of 3k x 2k doubles in two copies on four sockets with 6 MB each.
TEST(boundary_level, of_the_worked_example_is_five) {
  EXPECT_EQ(boundary_level(2, 4, 3072.0 * 2048 * 8 * 2, 6 * mib), 5u);
  EXPECT_EQ(boundary_level(2, 4, 1, 6 * mib), 3u) << "the sockets alone";
}

TEST(boundary_level, of_one_socket_is_zero) {
  for (const double bytes : {0.0, 1.0, 1e12}) EXPECT_EQ(boundary_level(2, 1, bytes, mib), 0u);
}

// Eq. 3.1 and 3.2 hold at the level, and one of them does not one level above.
TEST(boundary_level, is_the_smallest_that_both_constraints_allow) {
  for (const unsigned b : {2u, 3u, 4u, 10u}) {
    for (unsigned m = 2; m < 20; ++m) {
      for (double data = 1; data < 1e5; data *= 1.7) {
        const unsigned level = boundary_level(b, m, data * mib, 6 * mib);
        const auto holds = [&](unsigned l) {
          const double tasks = std::pow(static_cast<double>(b), static_cast<double>(l) - 1);
          return tasks >= m && data * mib / tasks <= 6 * mib;
        };
        EXPECT_TRUE(holds(level)) << b << " " << m << " " << data;
        EXPECT_FALSE(holds(level - 1)) << b << " " << m << " " << data;
      }
    }
  }
}

// Where the ratios are powers a logarithm may come out a little too large.
TEST(boundary_level, is_exact_at_powers) {
  for (unsigned l = 2; l < 30; ++l) {
    EXPECT_EQ(boundary_level(2, 2, std::ldexp(mib, static_cast<int>(l) - 1), mib), l);
    EXPECT_EQ(boundary_level(2, 2, std::ldexp(mib, static_cast<int>(l) - 1) + 1, mib), l + 1);
  }
  EXPECT_EQ(boundary_level(10, 1000, 0, mib), 4u);
}

TEST(boundary_level, counts_sockets_alone_where_sizes_are_not_known) {
  EXPECT_EQ(boundary_level(2, 4, 0, 6 * mib), 3u);
  EXPECT_EQ(boundary_level(2, 4, 1e12, 0), 3u);
  EXPECT_EQ(boundary_level(0, 4, 0, 0), 3u) << "fewer than two children are two";
}

// Section 3.8.3: a root of 16 MB, halved from level to level.
TEST(even_share, halves_from_level_to_level) {
  double bytes = 16 * mib;
  for (unsigned level = 1; level < 5; ++level) bytes = even_share(bytes, 2);
  EXPECT_EQ(bytes, mib);
  EXPECT_EQ(even_share(12, 3), 4);
  EXPECT_EQ(even_share(12, 0), 12);
}

// Section 4.5: two sockets; a task with [D/3, D/2) goes to the first.
TEST(data_range, of_the_books_example_belongs_to_the_first_socket) {
  const data_range whole;
  const data_range task{2, 3, 6};
  EXPECT_TRUE(task.is_within_one(2));
  EXPECT_EQ(task.first_socket(2), 0u);
  EXPECT_EQ(whole.child(1, 3).child(0, 2), (data_range{2, 3, 6})) << "[1/3, 2/3), its first half";
}

// Children share their parent's range without gaps, whatever the counts; exactly.
TEST(data_range, is_divided_without_gaps) {
  std::vector<data_range> level{data_range{}};
  for (const unsigned count : {2u, 3u, 5u, 2u, 7u}) {
    std::vector<data_range> next;
    for (const data_range& r : level) {
      for (unsigned i = 0; i < count; ++i) next.push_back(r.child(i, count));
    }
    level = next;
  }
  const auto equal = [](std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) { return a * d == c * b; };
  EXPECT_EQ(level.front().from, 0u);
  EXPECT_EQ(level.back().to, level.back().parts);
  for (std::size_t i = 0; i + 1 < level.size(); ++i) {
    EXPECT_TRUE(equal(level[i].to, level[i].parts, level[i + 1].from, level[i + 1].parts));
    EXPECT_TRUE(equal(level[i].to - level[i].from, level[i].parts, 1, level.size()));
  }
}

// Each socket owns as many tasks, by Eq. 4.5, and what no border crosses is owned alike by both rules.
TEST(data_range, gives_each_socket_an_equal_part) {
  for (const unsigned sockets : {2u, 3u, 4u, 6u}) {
    std::vector<unsigned> owned(sockets, 0);
    const unsigned tasks = 24;
    for (unsigned i = 0; i < tasks; ++i) {
      const data_range r = data_range{}.child(i, tasks);
      ASSERT_TRUE(r.is_within_one(sockets));
      EXPECT_EQ(r.first_socket(sockets), r.main_socket(sockets));
      ++owned[r.first_socket(sockets)];
    }
    for (const unsigned n : owned) EXPECT_EQ(n, tasks / sockets);
  }
}

TEST(data_range, across_a_border_begins_in_one_socket_and_lies_mostly_in_another) {
  const data_range r{1, 4, 6};  // [1/6, 4/6): a third of it is the first half's
  EXPECT_FALSE(r.is_within_one(2));
  EXPECT_EQ(r.first_socket(2), 0u);
  EXPECT_EQ(r.main_socket(2), 0u);
  const data_range s{2, 6, 6};
  EXPECT_EQ(s.first_socket(2), 0u);
  EXPECT_EQ(s.main_socket(2), 1u);
  EXPECT_EQ((data_range{0, 1, 1}.main_socket(4)), 0u) << "of equal ones the first";
  // With three sockets one task of each level lies across the first border, however fine the levels are.
  data_range cut;
  for (int level = 0; level < 40; ++level) {
    const data_range first = cut.child(0, 2);
    cut = first.to * 3 > first.parts ? first : cut.child(1, 2);
    EXPECT_FALSE(cut.is_within_one(3));
    EXPECT_EQ(cut.first_socket(3), 0u);
  }
}

TEST(data_range, stays_what_it_is_where_counts_are_not_known_or_too_fine) {
  const data_range half = data_range{}.child(1, 2);
  EXPECT_EQ(half.child(0, 0), half);
  EXPECT_EQ(half.child(5, 3), half) << "more children than were told";
  data_range fine;
  for (int level = 0; level < 100; ++level) fine = fine.child(1, 2);
  EXPECT_LT(fine.from, fine.to);
  EXPECT_EQ(fine.first_socket(4), 3u);
}

// By data and not by tasks: trees of other shapes find the same sockets.
TEST(socket_homes, tell_who_worked_on_a_range_whatever_tree_it_comes_from) {
  heddle::policy::socket_homes homes;
  const data_range whole;
  EXPECT_EQ(homes.of_begin(whole), heddle::policy::nobody);
  for (unsigned i = 0; i < 4; ++i) homes.note(whole.child(i, 4), 3 - i);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(homes.of_begin(whole.child(i, 4)), 3 - i);
    EXPECT_EQ(homes.of_middle(whole.child(i, 4)), 3 - i);
    EXPECT_EQ(homes.of_middle(whole.child(i / 2, 2).child(i % 2, 2)), 3 - i);
    EXPECT_EQ(homes.of_begin(whole.child(3 * i, 12)), 3 - i);
  }
  EXPECT_EQ(homes.of_begin(whole), 3u);
  homes.note(whole.child(1, 2), 7);
  EXPECT_EQ(homes.of_middle(whole.child(1, 4)), 2u);
  EXPECT_EQ(homes.of_middle(whole.child(2, 4)), 7u);
  EXPECT_EQ(homes.of_middle(whole.child(3, 4)), 7u);
}

TEST(socket_homes, take_ranges_of_any_fineness_at_any_place) {
  heddle::policy::socket_homes homes;
  data_range last;
  for (int level = 0; level < 60; ++level) {
    homes.note(last, static_cast<unsigned>(level));
    EXPECT_EQ(homes.of_begin(last), static_cast<unsigned>(level));
    EXPECT_EQ(homes.of_middle(last), static_cast<unsigned>(level));
    last = last.child(1, 2);
  }
}

// Section 4.8: cycles of a leaf task with S bytes of its own and B of its neighbours', at V_l and V_r bytes a cycle.
struct leaf_cost {
  double own, border, local, remote, sockets;
  double at_random() const {
    return (own + border) / local / sockets + (own + border) / remote * (sockets - 1) / sockets;
  }
  double allocated() const { return own / local + border / remote; }
  double bound() const { return (1 / (sockets * remote) - 1 / (sockets * local)) * ((sockets - 1) * own - border); }
};

// Eq. 4.9 is the exact difference of 4.7 and 4.8, and positive where (M - 1) S > B.
TEST(allocation_gain, has_the_sign_of_the_books_condition) {
  for (double own : {64.0, 4096.0, 1e6}) {
    for (double border : {0.0, 64.0, 4096.0, 2e6}) {
      for (double sockets : {1.0, 2.0, 3.0, 4.0, 8.0}) {
        const leaf_cost c{own, border, 8, 3, sockets};
        EXPECT_NEAR(c.at_random() - c.allocated(), c.bound(), 1e-9 * (own + border));
        EXPECT_EQ(c.bound() > 0, (sockets - 1) * own > border) << own << " " << border << " " << sockets;
        if (sockets == 1) {
          EXPECT_LE(c.bound(), 0) << "nothing is promised of one socket";
        }
      }
    }
  }
}

}  // namespace
}  // namespace tier_partition_test

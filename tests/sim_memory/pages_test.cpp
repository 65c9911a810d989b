#include "sim/pages.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <vector>

#include "sim/flat_machine.hpp"
#include "sim/memory_model.hpp"

namespace heddle::sim {
namespace pages_test {
namespace {

TEST(page_table, frames_are_numbered_by_first_touch) {
  page_table pages(2, 1000);
  EXPECT_EQ(pages.frame_of(900, 0), 0u);
  EXPECT_EQ(pages.frame_of(3, 1), 1u);
  EXPECT_EQ(pages.frame_of(1ull << 51, 1), 2u);
  EXPECT_EQ(pages.frame_of(900, 1), 0u);
  EXPECT_EQ(pages.node_of(0), 0u);
  EXPECT_EQ(pages.node_of(1), 1u);
  EXPECT_EQ(pages.pages_on(0), 1u);
  EXPECT_EQ(pages.pages_on(1), 2u);
}

TEST(page_table, places_by_the_latest_rule_of_a_page) {
  page_table pages(4, 1000);
  pages.place(100, 199, page_policy::interleave, 0);
  pages.place(150, 159, page_policy::bind, 3);
  pages.place(190, 210, page_policy::first_touch, 0);
  const auto node = [&](std::uint64_t page) { return pages.node_of(pages.frame_of(page, 2)); };
  EXPECT_EQ(node(99), 2u);
  EXPECT_EQ(node(100), 0u);
  EXPECT_EQ(node(101), 1u);
  EXPECT_EQ(node(103), 3u);
  EXPECT_EQ(node(104), 0u);
  EXPECT_EQ(node(150), 3u);
  EXPECT_EQ(node(159), 3u);
  EXPECT_EQ(node(160), 0u) << "the rest of a range that was cut keeps its origin";
  EXPECT_EQ(node(189), 1u);
  EXPECT_EQ(node(190), 2u);
  EXPECT_EQ(node(211), 2u);
  pages.place(100, 199, page_policy::bind, 0);
  EXPECT_EQ(node(101), 1u) << "a page that exists stays";
  EXPECT_EQ(node(105), 0u);
}

TEST(page_table, forgets_and_uses_frames_again) {
  page_table pages(2, 4);
  pages.place(0, 9, page_policy::bind, 1);
  for (std::uint64_t page = 0; page < 4; ++page) pages.frame_of(page, 0);
  EXPECT_THROW(pages.frame_of(4, 0), std::length_error);
  std::vector<std::uint32_t> gone;
  pages.forget(1, 2, [&](std::uint32_t frame) { gone.push_back(frame); });
  EXPECT_EQ(gone, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(pages.pages_on(1), 2u);
  EXPECT_EQ(pages.node_of(pages.frame_of(2, 0)), 0u) << "the rule went with the range";
  EXPECT_EQ(pages.node_of(pages.frame_of(5, 0)), 1u);
  EXPECT_EQ(pages.frames(), 4u);
  pages.forget(0, ~0ull >> 12, [](std::uint32_t) {});
  EXPECT_EQ(pages.pages_on(0) + pages.pages_on(1), 0u);
}

TEST(page_table, scattered_frames_are_all_frames_of_their_group) {
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    for (const unsigned bits : {0u, 1u, 2u, 5u, 8u, 12u}) {
      const std::uint32_t group = 1u << bits;
      for (std::uint32_t first = 0; first < 3 * group; first += group) {
        std::vector<bool> seen(group, false);
        for (std::uint32_t n = first; n < first + group; ++n) {
          const std::uint32_t frame = page_table::scattered(n, bits, seed);
          ASSERT_EQ(frame >> bits, n >> bits);
          ASSERT_FALSE(seen[frame - first]) << bits;
          seen[frame - first] = true;
        }
      }
    }
  }
  page_table pages(2, 4096 + 100, 12);
  for (std::uint64_t page = 0; page < 4096; ++page) EXPECT_EQ(pages.node_of(pages.frame_of(page, page % 2)), page % 2);
  EXPECT_THROW(pages.frame_of(4096, 0), std::length_error) << "whole groups only";
}

// The first pages of a program: 128 of them, in a cache of 16 colours and 16 ways. With frames at random a colour gets
// more than 16 of them in 4 to 5 of 100 programs, and 0.65 % of the pages share a set that is too full.
TEST(page_table, other_seeds_give_a_programs_first_pages_other_colours) {
  constexpr unsigned pages = 128, colours = 16, ways = 16, seeds = 1000;
  unsigned lost = 0, with_loss = 0;
  std::set<std::vector<std::uint32_t>> placements;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    std::vector<std::uint32_t> of_colour(colours), frames;
    for (std::uint32_t n = 0; n < pages; ++n) {
      frames.push_back(page_table::scattered(n, 12, seed));
      ++of_colour[frames.back() % colours];
    }
    unsigned here = 0;
    for (const std::uint32_t count : of_colour) here += count > ways ? count : 0;
    lost += here;
    with_loss += here != 0 ? 1 : 0;
    placements.insert(frames);
  }
  EXPECT_EQ(placements.size(), seeds);
  EXPECT_LT(lost, seeds * pages / 100) << "one in a hundred on average";
  EXPECT_GT(with_loss, seeds / 50) << "some placements are bad, as on real machines";
  EXPECT_LT(with_loss, seeds / 10);
}

// Many cores touch pages of their own blocks in turn, so that each has every k-th frame. A private second level of C
// colours (sets * line / page) and w ways holds a block of p pages if no colour gets more than w of them: with frames
// at random a colour gets Binomial(p, 1/C), here 128 pages, 16 colours, 16 ways: more than 16 with probability 0.003,
// so some hundredth of the lines are lost. Frames in order of first touch give one core one colour, and lose all.
TEST(placement, pages_that_are_touched_in_step_do_not_share_sets) {
  constexpr unsigned cores = 64;
  constexpr std::uint64_t pages = 128, block = pages * 4096, base = 0x4000'0000;
  const cache_form forms[] = {{machine::group_kind::l1, 32768, 8}, {machine::group_kind::l2, 1 << 20, 16}};
  machine::model m = bare_machine("l2:64 l1:1 pu:1", forms);
  m.caches = {{machine::group_kind::l1, 1.5}, {machine::group_kind::l2, 5}};
  m.nodes = {{0, 90, 0, 1}};
  m.overlap = 10;
  memory_model model(m);
  for (std::uint64_t p = 0; p < pages; ++p) {
    for (unsigned core = 0; core < cores; ++core) model.access(core, base + core * block + p * 4096, 4096, false, 0);
  }
  model.reset_counts();
  double sum = 0;
  for (unsigned core = 0; core < cores; ++core) {
    model.access(core, base + core * block, block, false, 1e6);
    sum += model.access(core, base + core * block, block, false, 2e6);
  }
  const auto l2 = model.levels()[1];
  EXPECT_LT(static_cast<double>(l2.misses), 0.02 * static_cast<double>(l2.accesses));
  const double a_line = sum / (cores * static_cast<double>(block / 64));
  const double lost = static_cast<double>(l2.misses) / static_cast<double>(l2.accesses);
  EXPECT_NEAR(a_line, (5 * (1 - lost) + 90 * lost) / 10, 0.1);
}

constexpr std::uint64_t page = 4096;

// Each policy puts each page exactly where it says, and each fetched byte counts at its node.
TEST(placement, counts_are_exact) {
  const cache_form forms[] = {{machine::group_kind::l1, 4096, 8}};
  for (const page_policy policy : {page_policy::first_touch, page_policy::interleave, page_policy::bind}) {
    memory_model model(bare_machine("pack:4 [numa] l1:2 pu:1", forms));
    constexpr std::uint64_t base = 0x10'0000, pages = 80;
    model.place(base, pages * page, policy, 2);
    // unit u touches ten
    for (std::uint64_t p = 0; p < pages; ++p)
      model.access(static_cast<unsigned>(p / 10), base + p * page, page, true, 0);
    const auto nodes = model.nodes();
    ASSERT_EQ(nodes.size(), 4u);
    for (unsigned n = 0; n < 4; ++n) {
      EXPECT_EQ(nodes[n].numa, static_cast<int>(n));
      const std::uint64_t here = policy == page_policy::bind ? (n == 2 ? pages : 0) : pages / 4;
      // Units 2n and 2n+1 touch pages [20n, 20n + 20).
      const std::uint64_t own = policy == page_policy::first_touch  ? 20
                                : policy == page_policy::interleave ? 5
                                : n == 2                            ? 20
                                                                    : 0;
      EXPECT_EQ(nodes[n].pages, here);
      EXPECT_EQ(nodes[n].local_bytes, own * page);
      EXPECT_EQ(nodes[n].remote_bytes, (here - own) * page);
    }
  }
}

TEST(placement, partial_pages) {
  memory_model model(bare_machine("pack:2 [numa] pu:1", {}));
  model.place(page - 1, 2, page_policy::bind, 1);  // pages 0 and 1
  model.access(0, 0, 3 * page, false, 0);
  EXPECT_EQ(model.nodes()[1].pages, 2u);
  model.forget(1, 2 * page);  // page 1 wholly
  EXPECT_EQ(model.nodes()[1].pages, 1u);
  model.access(0, page, 1, false, 0);
  EXPECT_EQ(model.nodes()[1].pages, 1u);
  EXPECT_EQ(model.nodes()[0].pages, 2u);
  EXPECT_THROW(model.place(0, 1, page_policy::bind, 9), std::invalid_argument);
}

// A frame that is used again has no copies left from its former page, in any cache.
TEST(placement, forgotten_pages_leave_the_caches) {
  for (const char* tree : {"l2:1 l1:1 pu:1", "l2:2 l1:2 pu:1"}) {
    const cache_form forms[] = {{machine::group_kind::l1, 8192, 4}, {machine::group_kind::l2, 65536, -1}};
    memory_model model(bare_machine(tree, forms));
    const unsigned last = std::string(tree) == "l2:1 l1:1 pu:1" ? 0 : 3;
    model.access(0, 0, page, true, 0);
    model.access(last, 0, page, false, 0);
    model.forget(0, page);
    model.reset_counts();
    model.access(last, 100 * page, page, false, 0);
    EXPECT_EQ(model.levels()[0].misses, page / 64) << tree;
    EXPECT_EQ(model.levels()[1].misses, page / 64) << tree;
  }
}

}  // namespace
}  // namespace pages_test
}  // namespace heddle::sim

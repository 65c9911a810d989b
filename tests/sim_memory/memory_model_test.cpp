#include "sim/memory_model.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "sim/flat_machine.hpp"
#include "sim_memory/naive.hpp"

namespace heddle::sim {
namespace memory_model_test {
namespace {

using machine::group_kind;

struct described {
  const char* name;
  std::string tree;
  std::vector<cache_form> caches;
  bool victim{false};  // the last level
};

class many_cores : public testing::TestWithParam<described> {};

// Random reads and writes by all units, of one line and of ranges: every count equals the plain implementation's.
TEST_P(many_cores, same_misses_and_invalidations_as_the_plain_model) {
  machine::model m = bare_machine(GetParam().tree, GetParam().caches);
  if (GetParam().victim) m.caches = {{m.tree.caches().back().kind, 0, {}, true}};
  memory_model model(m);
  naive::machine_caches plain(m);
  const auto units = static_cast<unsigned>(m.tree.units().size());
  std::uint64_t line = ~0ull;
  for (const machine::cache_info& c : m.tree.caches()) line = std::min<std::uint64_t>(line, c.line_size);
  constexpr std::uint64_t pages = 6, base = 0x1000'0000;
  // Frames are taken in the order of addresses; 12 bits of their numbers are scattered, with pages of 4 KB.
  const auto frame = [&](std::uint64_t page) {
    return std::uint64_t{page_table::scattered(static_cast<std::uint32_t>(page), 12, 0)} * m.page_size;
  };
  for (std::uint64_t page = 0; page < pages; ++page) {
    model.access(0, base + page * m.page_size, 1, false, 0);
    plain.access(0, frame(page), false);
  }
  std::mt19937_64 random(11);
  std::vector<std::uint64_t> mine(units, 0);
  for (int i = 0; i < 30'000; ++i) {
    const auto unit = static_cast<unsigned>(random() % units);
    // Mostly a unit's own page, so that the inner caches hit.
    const std::uint64_t range = random() % 4 == 0 ? pages * m.page_size - 1024 : 1024;
    const std::uint64_t at = (range == 1024 ? unit % pages * m.page_size : 0) + random() % range;
    const std::uint64_t bytes = random() % 8 == 0 ? 1 + random() % 900 : 1;
    const bool write = random() % 3 == 0;
    model.access(unit, base + at, bytes, write, 0);
    for (std::uint64_t l = at / line; l <= (at + bytes - 1) / line; ++l) {
      const std::uint64_t offset = l * line;
      plain.access(unit, frame(offset / m.page_size) + offset % m.page_size, write);
    }
  }
  std::uint64_t invalidations = 0;
  for (const level_count& level : model.levels()) {
    const auto& expected = plain.at(level.kind);
    EXPECT_EQ(level.accesses, expected.accesses) << machine::name(level.kind);
    EXPECT_EQ(level.misses, expected.misses) << machine::name(level.kind);
    EXPECT_EQ(level.invalidations, expected.invalidations) << machine::name(level.kind);
    EXPECT_GT(level.accesses, level.misses) << "nothing was found: the test says little";
    invalidations += level.invalidations;
  }
  if (units > 1 && m.tree.caches().size() > 1) {
    EXPECT_GT(invalidations, 100u);
  }
  // The sum over units is the whole; the last level's misses went to memory.
  std::vector<level_count> sum = model.levels_of(0);
  for (unsigned unit = 1; unit < units; ++unit) {
    const auto own = model.levels_of(unit);
    for (std::size_t l = 0; l < sum.size(); ++l) sum[l].misses += own[l].misses;
  }
  for (std::size_t l = 0; l < sum.size(); ++l) EXPECT_EQ(sum[l].misses, model.levels()[l].misses);
  std::uint64_t bytes = 0;
  std::uint64_t written = 0;
  for (const node_traffic& node : model.nodes()) {
    bytes += node.local_bytes + node.remote_bytes;
    written += node.written_bytes;
  }
  EXPECT_EQ(written, plain.write_backs * m.tree.caches().back().line_size);
  EXPECT_GT(written, 0u);
  reach_count all;
  for (unsigned unit = 0; unit < units; ++unit) {
    const reach_count own = model.reach_of(unit);
    all.from_caches += own.from_caches;
    all.transfers += own.transfers;
    all.upgrades += own.upgrades;
    all.local += own.local + own.remote;
  }
  EXPECT_EQ(bytes, all.local * m.tree.caches().back().line_size);
  EXPECT_EQ(all.local + all.from_caches, model.levels().back().misses);
  EXPECT_EQ(all.local, plain.from_memory);
  EXPECT_EQ(all.from_caches, plain.from_caches);
  EXPECT_EQ(all.transfers, plain.transfers);
  EXPECT_EQ(all.upgrades, plain.upgrades);
  if (units > 1) {
    EXPECT_GT(all.transfers, 100u);
    EXPECT_GT(all.upgrades, 100u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    machines, many_cores,
    testing::Values(
        described{"one_core", "l2:1 l1:1 pu:1", {{group_kind::l1, 1024, 2}, {group_kind::l2, 8192, 4}}},
        described{"private_only", "l1:4 pu:1", {{group_kind::l1, 2048, 4}}},
        described{"two_sockets",
                  "pack:2 [numa] l3:1 l2:4 l1:1 pu:1",
                  {{group_kind::l1, 1024, 2}, {group_kind::l2, 3072, 3}, {group_kind::l3, 11264, 11}}},
        described{"threads_share_a_core",
                  "l3:2 l2:2 l1:1 pu:2",
                  {{group_kind::l1, 1024, 4}, {group_kind::l2, 2048, 8}, {group_kind::l3, 8192, 16}}},
        described{"pairs_share_l2", "l2:4 l1:2 pu:1", {{group_kind::l1, 512, 2}, {group_kind::l2, 4096, -1}}},
        described{"fully_associative",
                  "l3:1 l2:3 l1:1 pu:1",
                  {{group_kind::l1, 1024, -1}, {group_kind::l2, 4096, -1}, {group_kind::l3, 16384, -1}}},
        described{"wide_lines_outside",
                  "l3:2 l2:2 l1:1 pu:1",
                  {{group_kind::l1, 1024, 2, 64}, {group_kind::l2, 4096, 4, 128}, {group_kind::l3, 8192, 8, 128}}},
        described{
            "wide_lines_inside", "l2:2 l1:2 pu:1", {{group_kind::l1, 1024, 2, 128}, {group_kind::l2, 8192, 4, 64}}},
        described{"seventy_cores", "l2:2 l1:35 pu:1", {{group_kind::l1, 512, 2}, {group_kind::l2, 8192, 16}}},
        described{
            "victims_of_one_core", "l2:1 l1:1 pu:1", {{group_kind::l1, 1024, 2}, {group_kind::l2, 8192, 4}}, true},
        described{"victims_in_two_sockets",
                  "pack:2 [numa] l3:1 l2:4 l1:1 pu:1",
                  {{group_kind::l1, 1024, 2}, {group_kind::l2, 3072, 3}, {group_kind::l3, 5632, 11}},
                  true},
        described{"victims_of_pairs",
                  "l3:2 l2:2 l1:2 pu:1",
                  {{group_kind::l1, 512, 2}, {group_kind::l2, 2048, 4}, {group_kind::l3, 4096, -1}},
                  true},
        described{"victims_of_wide_lines",
                  "l3:1 l2:3 l1:1 pu:1",
                  {{group_kind::l1, 1024, 2, 64}, {group_kind::l2, 4096, 4, 128}, {group_kind::l3, 4096, 8, 128}},
                  true}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(memory_model, keeps_both_of_two_caches_with_the_same_workers) {
  const cache_form forms[] = {{group_kind::l1, 32768, 8}, {group_kind::l2, 1 << 20, 16}};
  memory_model model(bare_machine("l2:2 l1:1 pu:1", forms));
  const auto levels = model.levels();
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[0].kind, group_kind::l1);
  EXPECT_EQ(levels[1].kind, group_kind::l2);
}

// A write leaves the copies in caches that the writer shares, so a neighbour finds the line there and not in memory.
TEST(memory_model, a_written_line_is_found_in_the_shared_cache) {
  const cache_form forms[] = {{group_kind::l1, 1024, 2}, {group_kind::l2, 8192, 4}};
  memory_model model(bare_machine("l2:1 l1:2 pu:1", forms));
  model.access(0, 0, 8, false, 0);
  model.access(1, 0, 8, true, 0);
  EXPECT_EQ(model.levels()[0].invalidations, 1u);
  EXPECT_EQ(model.levels()[1].invalidations, 0u);
  model.reset_counts();
  model.access(0, 0, 8, false, 0);
  EXPECT_EQ(model.levels()[0].misses, 1u);
  EXPECT_EQ(model.levels()[1].misses, 0u);
  model.access(0, 0, 8, false, 0);
  EXPECT_EQ(model.levels()[0].misses, 1u);
}

// The same accesses at other addresses, as after another start of a program, cost the same.
TEST(memory_model, tells_how_far_a_units_accesses_went) {
  const cache_form forms[] = {{group_kind::l1, 1024, -1}, {group_kind::l2, 4096, -1}, {group_kind::l3, 65536, -1}};
  memory_model model(bare_machine("pack:2 [numa] l3:1 l2:2 l1:1 core:1 pu:2", forms));
  constexpr std::uint64_t base = 0x1000'0000, bytes = 8192, lines = bytes / 64;
  constexpr unsigned near = 0, sibling = 1, neighbour = 2, far = 4;  // on the same core, chip, and on the other chip
  model.access(near, base, bytes, false, 0);
  const reach_count first = model.reach_of(near);
  EXPECT_TRUE(first.has_own && first.has_shared);
  EXPECT_EQ(first.beyond_core, lines);
  EXPECT_EQ(first.beyond_caches, lines);
  EXPECT_EQ(first.local, lines);
  EXPECT_EQ(first.remote, 0u);
  model.access(neighbour, base, bytes, false, 0);
  EXPECT_EQ(model.reach_of(neighbour).beyond_core, lines);
  EXPECT_EQ(model.reach_of(neighbour).beyond_caches, 0u) << "the chip has it";
  model.access(sibling, base + bytes - 1024, 1024, false, 0);
  EXPECT_EQ(model.reach_of(sibling).beyond_core, 0u) << "the core has it";
  model.access(far, base, bytes, false, 0);
  EXPECT_EQ(model.reach_of(far).remote, lines);
  EXPECT_EQ(model.reach_of(far).local, 0u);
  model.reset_counts();
  EXPECT_EQ(model.reach_of(far).remote, 0u);
}

TEST(memory_model, a_machine_may_have_no_shared_cache_or_none_for_a_core) {
  const cache_form one[] = {{group_kind::l1, 1024, 2}};
  const memory_model alone(bare_machine("l1:4 core:1 pu:1", one));
  EXPECT_TRUE(alone.reach_of(0).has_own);
  EXPECT_FALSE(alone.reach_of(0).has_shared);
  const memory_model common(bare_machine("l1:1 core:4 pu:1", one));
  EXPECT_FALSE(common.reach_of(0).has_own);
  EXPECT_TRUE(common.reach_of(0).has_shared);
}

TEST(memory_model, does_not_depend_on_where_pages_lie) {
  const cache_form forms[] = {{group_kind::l1, 1024, 2}, {group_kind::l2, 8192, 4}};
  const auto run = [&](std::uint64_t base) {
    memory_model model(bare_machine("l2:1 l1:2 pu:1", forms));
    std::mt19937_64 random(3);
    double time = 0;
    for (int i = 0; i < 20'000; ++i) {
      time += model.access(static_cast<unsigned>(random() % 2), base + (random() % 16) * 0x40'0000 + random() % 4096,
                           16, random() % 2 == 0, time);
    }
    return std::pair(model.levels()[0].misses, model.levels()[1].misses);
  };
  const auto here = run(0x5555'0000'0000);
  EXPECT_EQ(here, run(0x7fff'1234'5000));
  EXPECT_GT(here.second, 0u);
}

TEST(memory_model, flush_empties_caches_and_keeps_pages) {
  const cache_form forms[] = {{group_kind::l1, 4096, 4}};
  memory_model model(bare_machine("l1:2 pu:1", forms));
  model.access(0, 0, 2048, false, 0);
  model.access(0, 0, 2048, false, 0);
  EXPECT_EQ(model.levels()[0].misses, 32u);
  model.flush();
  model.access(0, 0, 2048, false, 0);
  EXPECT_EQ(model.levels()[0].misses, 64u);
  EXPECT_EQ(model.nodes()[0].pages, 1u);
}

TEST(memory_model, units_without_caches_go_to_memory) {
  memory_model model(bare_machine("pu:2", {}));
  model.access(1, 100, 200, true, 0);
  EXPECT_TRUE(model.levels().empty());
  EXPECT_EQ(model.nodes()[0].local_bytes, 4u * 64);
}

// The level behind has what the one inside it loses: a sweep over what both hold finds all of it there, in order of
// last use, and a sweep over one line more nothing (Jouppi, ISCA 1990, section 3.2, on victim caches: the capacities
// add up; an inclusive last level holds its own alone).
TEST(victims, capacities_of_both_levels_add_up) {
  constexpr std::uint64_t inside = 4096, behind = 8192;
  const cache_form forms[] = {{group_kind::l1, 1024, -1}, {group_kind::l2, inside, -1}, {group_kind::l3, behind, -1}};
  machine::model m = bare_machine("l3:1 l2:1 l1:1 pu:1", forms);
  m.caches = {{group_kind::l1, 1}, {group_kind::l2, 5}, {group_kind::l3, 26, {}, true}};
  m.nodes = {{0, 90, 0, 1}};
  const auto sweep_twice = [&](std::uint64_t bytes) {
    memory_model model(m);
    model.access(0, 0, bytes, false, 0);
    const double time = model.access(0, 0, bytes, false, 1e6);
    return std::pair(model.reach_of(0).local, time / static_cast<double>(bytes / 64));
  };
  EXPECT_EQ(sweep_twice(inside + behind), std::pair((inside + behind) / 64, 26.0));
  EXPECT_EQ(sweep_twice(inside + behind + 64), std::pair(2 * ((inside + behind) / 64 + 1), 90.0));
  m.caches.back().victim = false;
  EXPECT_EQ(sweep_twice(behind), std::pair(behind / 64, 26.0));
  EXPECT_EQ(sweep_twice(behind + 64), std::pair(2 * (behind / 64 + 1), 90.0));
}

// A line from memory is not in the level behind; another core gets it from the first one's caches, and from then on it
// is there for all.
TEST(victims, a_line_of_several_cores_stays) {
  const cache_form forms[] = {{group_kind::l1, 1024, -1}, {group_kind::l2, 4096, -1}, {group_kind::l3, 8192, -1}};
  machine::model m = bare_machine("l3:1 l2:4 l1:1 pu:1", forms);
  m.caches = {{group_kind::l1, 1}, {group_kind::l2, 5}, {group_kind::l3, 26, {49, 49}, true}};
  m.nodes = {{0, 90, 0, 1}};
  memory_model model(m);
  EXPECT_DOUBLE_EQ(model.access(0, 0, 8, false, 0), 90);
  EXPECT_DOUBLE_EQ(model.access(1, 0, 8, false, 100), 49);
  EXPECT_DOUBLE_EQ(model.access(2, 0, 8, false, 200), 26);
  EXPECT_DOUBLE_EQ(model.access(3, 0, 8, false, 300), 26);
  EXPECT_EQ(model.nodes()[0].local_bytes, 64u);
  model.access(0, 1 << 20, 4096, false, 400);
  EXPECT_DOUBLE_EQ(model.access(0, 0, 8, false, 1000), 26);
}

TEST(memory_model, says_what_is_wrong_with_a_machine) {
  const cache_form two[] = {{group_kind::l1, 1024, 1, 64}, {group_kind::l2, 4096, 1, 128}};
  machine::model victim = bare_machine("l2:1 l1:1 pu:1", two);
  victim.caches = {{group_kind::l2, 5, {}, true}};
  EXPECT_THROW(memory_model{victim}, std::invalid_argument) << "lines of two sizes";
  victim.caches = {{group_kind::l1, 5, {}, true}};
  EXPECT_THROW(memory_model{victim}, std::invalid_argument) << "nothing inside it";
  const cache_form odd_line[] = {{group_kind::l1, 4800, 1, 48}};
  EXPECT_THROW(memory_model(bare_machine("l1:1 pu:1", odd_line)), std::invalid_argument);
  machine::model m = bare_machine("l1:1 pu:1", {});
  m.page_size = 5000;
  EXPECT_THROW(memory_model{m}, std::invalid_argument);
  m.page_size = 32;
  EXPECT_THROW(memory_model{m}, std::invalid_argument);
  m.page_size = 4096;
  m.nodes.push_back({7, 100, 10, 1});
  EXPECT_THROW(memory_model{m}, std::invalid_argument);
}

}  // namespace
}  // namespace memory_model_test
}  // namespace heddle::sim

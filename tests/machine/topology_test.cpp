#include "machine/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

#include "machine/limits.hpp"

namespace heddle::machine {
namespace topology_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string hybrid = HEDDLE_SOURCE_DIR "/tests/machine/data/hybrid.xml";

// The properties of every tree, for any machine.
void expect_sound(const topology& t) {
  const memory_group& root = t.view().root();
  EXPECT_EQ(root.kind, group_kind::memory);
  EXPECT_EQ(root.capacity, unlimited);
  EXPECT_EQ(root.parent, no_group);
  EXPECT_EQ(root.level, 0u);
  EXPECT_EQ(root.first_worker, 0u);
  unsigned leaves = 0;
  for (unsigned id = 0; id < t.view().groups().size(); ++id) {
    const memory_group& g = t.view().group(id);
    EXPECT_EQ(g.id, id);
    EXPECT_GE(g.sharing, std::set<int>({t.view().unit_of(g.first_worker).number}).size());
    if (g.is_leaf()) {
      ++leaves;
      EXPECT_EQ(g.worker_count, 1u);
      EXPECT_NE(g.level, 0u);
      EXPECT_EQ(&t.view().leaf_of(g.first_worker), &g);
      continue;
    }
    unsigned next = g.first_worker;
    double speed = 0;
    for (const memory_group& child : t.view().children(g)) {
      EXPECT_EQ(child.parent, id);
      EXPECT_EQ(child.level, g.level + 1);
      EXPECT_EQ(child.first_worker, next);
      EXPECT_LE(child.capacity, g.capacity);
      next += child.worker_count;
      speed += child.speed;
    }
    EXPECT_EQ(next, g.first_worker + g.worker_count);
    EXPECT_DOUBLE_EQ(speed, g.speed);
    // A level that neither splits nor shares has been merged; the root may hold one cache.
    if (id != 0) {
      EXPECT_GT(g.child_count, 1u);
    }
  }
  EXPECT_EQ(leaves, t.workers());
  for (unsigned level = 0; level < t.view().levels(); ++level) {
    unsigned next = 0;
    for (const unsigned id : t.view().groups_at(level)) {
      EXPECT_EQ(t.view().group(id).first_worker, next);
      next += t.view().group(id).worker_count;
    }
    EXPECT_EQ(next, t.workers());
  }
  for (unsigned a = 0; a < t.workers(); ++a) {
    EXPECT_EQ(t.view().distance(a, a), 0u);
    for (unsigned b = 0; b < t.workers(); ++b) {
      EXPECT_EQ(&t.view().common_group(a, b), &t.view().common_group(b, a));
      if (a != b) {
        EXPECT_GE(t.view().distance(a, b), 1u);
      }
    }
  }
}

std::vector<group_kind> kinds_above(const topology& t, unsigned rank) {
  std::vector<group_kind> kinds;
  for (unsigned id = t.view().leaf_of(rank).id; id != no_group; id = t.view().group(id).parent)
    kinds.push_back(t.view().group(id).kind);
  return kinds;
}

TEST(topology, private_caches_are_the_leaves) {
  const topology t =
      topology::from_synthetic("pack:2 l3:1(size=32768KiB) l2:4(size=1MiB) l1d:1(size=32KiB) core:1 pu:1");
  expect_sound(t);
  EXPECT_FALSE(t.is_this_machine());
  EXPECT_EQ(t.workers(), 8u);
  EXPECT_EQ(t.view().levels(), 3u);
  // l1 is as private as the l2 around it: one group, with the larger capacity.
  EXPECT_THAT(kinds_above(t, 5), ElementsAre(group_kind::l2, group_kind::l3, group_kind::memory));
  EXPECT_EQ(t.view().leaf_of(0).capacity, t.view().children(t.view().group(1))[1].capacity);
  EXPECT_EQ(t.view().distance(0, 3), 1u);
  EXPECT_EQ(t.view().distance(3, 4), 2u);
  EXPECT_EQ(t.view().unit_of(5).package, 1u);
}

TEST(topology, capacities_add_up) {
  const topology t = topology::from_synthetic("pack:2 l3:1 l2:4 core:1 pu:1");
  const std::uint64_t l3 = t.view().group(1).capacity, l2 = t.view().leaf_of(0).capacity;
  EXPECT_EQ(t.view().capacity_at(t.view().root(), 0), unlimited);
  EXPECT_EQ(t.view().capacity_at(t.view().root(), 1), 2 * l3);
  EXPECT_EQ(t.view().capacity_at(t.view().root(), 2), 8 * l2);
  EXPECT_EQ(t.view().capacity_at(t.view().group(1), 2), 4 * l2);
  EXPECT_EQ(t.view().capacity_at(t.view().leaf_of(0), 2), l2);
}

TEST(topology, hardware_threads_of_a_core_get_leaves_below_their_cache) {
  const topology t = topology::from_synthetic("pack:1 l3:1 l2:2 core:1 pu:2");
  expect_sound(t);
  EXPECT_THAT(kinds_above(t, 3), ElementsAre(group_kind::unit, group_kind::l2, group_kind::l3, group_kind::memory));
  EXPECT_EQ(t.view().leaf_of(0).capacity * 2, t.view().group(t.view().leaf_of(0).parent).capacity);
  EXPECT_EQ(t.view().unit_of(1).sibling, 1u);
  EXPECT_EQ(t.view().unit_of(1).core, t.view().unit_of(0).core);
  EXPECT_EQ(t.view().unit_of(2).sibling, 0u);
  EXPECT_EQ(t.view().distance(0, 1), 1u);
  EXPECT_EQ(t.view().distance(1, 2), 2u);
}

TEST(topology, numa_nodes_are_a_level_only_if_they_hold_several_caches) {
  const topology several = topology::from_synthetic("numa:2 l3:2 core:2 pu:1");
  expect_sound(several);
  EXPECT_THAT(kinds_above(several, 0),
              ElementsAre(group_kind::unit, group_kind::l3, group_kind::numa, group_kind::memory));
  EXPECT_EQ(several.view().group(1).numa, 0);
  EXPECT_EQ(several.view().group(2).numa, 1);
  EXPECT_EQ(several.view().root().numa, -1);
  EXPECT_EQ(several.view().unit_of(7).numa, 1);
  const topology one = topology::from_synthetic("numa:2 l3:1 core:4 pu:1");
  EXPECT_THAT(kinds_above(one, 0), ElementsAre(group_kind::unit, group_kind::l3, group_kind::memory));
  EXPECT_EQ(one.view().group(1).numa, 0);
}

TEST(topology, works_without_caches) {
  const topology t = topology::from_synthetic("pu:4");
  expect_sound(t);
  EXPECT_EQ(t.view().levels(), 2u);
  EXPECT_EQ(t.view().leaf_of(2).kind, group_kind::unit);
  EXPECT_EQ(t.view().leaf_of(2).capacity, 0u);
  expect_sound(topology::from_synthetic("pu:1"));
}

TEST(topology, reads_kinds_of_cores_with_their_speeds) {
  const topology t = topology::from_xml(hybrid);
  expect_sound(t);
  EXPECT_EQ(t.kinds_of_core(), 2u);
  EXPECT_EQ(t.workers(), 8u);
  EXPECT_DOUBLE_EQ(t.unit(0)->speed, 1);
  EXPECT_DOUBLE_EQ(t.unit(18)->speed, 0.75);
  EXPECT_GT(t.unit(0)->kind, t.unit(18)->kind);
  EXPECT_DOUBLE_EQ(t.view().root().speed, 4 + 4 * 0.75);
  EXPECT_EQ(t.unit(2), nullptr);
  // Four small cores share an l2, so their own cache is the l1.
  EXPECT_THAT(kinds_above(t, 7), ElementsAre(group_kind::l1, group_kind::l2, group_kind::l3, group_kind::memory));
}

TEST(topology, leaves_may_lie_at_different_levels) {
  const topology t = topology::from_xml(hybrid).for_workers(std::vector<int>{0, 8, 16, 18});
  expect_sound(t);
  EXPECT_THAT(kinds_above(t, 0), ElementsAre(group_kind::l2, group_kind::l3, group_kind::memory));
  EXPECT_THAT(kinds_above(t, 3), ElementsAre(group_kind::l1, group_kind::l2, group_kind::l3, group_kind::memory));
  EXPECT_EQ(t.view().distance(0, 3), 1u);
  EXPECT_EQ(t.view().distance(3, 0), 2u);
  EXPECT_EQ(t.view().groups_at(3).size(), 4u);
}

TEST(topology, a_part_of_the_machine_is_a_machine) {
  const topology whole = topology::from_synthetic("numa:2 l3:2 l2:2 core:1 pu:2");
  const topology part = whole.for_workers(std::vector<int>{0, 2, 4, 12});
  expect_sound(part);
  EXPECT_EQ(part.workers(), 4u);
  EXPECT_EQ(part.units().size(), 16u);
  EXPECT_EQ(part.view().unit_of(3).number, 12);
  // Unit 12 is alone in its numa node's caches: the largest is its own.
  EXPECT_EQ(part.view().leaf_of(3).kind, group_kind::l3);
  EXPECT_EQ(part.view().leaf_of(3).sharing, 4u);
  EXPECT_THAT(kinds_above(part, 0), ElementsAre(group_kind::l2, group_kind::l3, group_kind::numa, group_kind::memory));
}

TEST(topology, workers_may_share_a_unit) {
  const topology t = topology::from_synthetic("l2:2 core:1 pu:1").for_workers(std::vector<int>{0, 0, 0, 1});
  expect_sound(t);
  EXPECT_EQ(t.workers(), 4u);
  EXPECT_EQ(t.view().distance(0, 2), 1u);
  EXPECT_EQ(t.view().leaf_of(3).kind, group_kind::l2);
}

TEST(topology, an_unknown_unit_has_no_caches) {
  const topology t = topology::from_synthetic("l2:2 core:1 pu:1").for_workers(std::vector<int>{0, 1, 77, 78});
  expect_sound(t);
  EXPECT_EQ(t.view().leaf_of(2).level, 1u);
  EXPECT_EQ(t.view().leaf_of(2).capacity, 0u);
  EXPECT_EQ(t.view().unit_of(3).number, 78);
}

TEST(topology, refuses_an_order_that_tears_groups_apart) {
  const topology t = topology::from_synthetic("l3:2 l2:2 core:1 pu:1");
  EXPECT_THROW((void)t.for_workers(std::vector<int>{0, 2, 1}), std::invalid_argument);
  EXPECT_THROW((void)t.for_workers({}), std::invalid_argument);
}

TEST(topology, compact_order_follows_the_tree_and_not_the_numbers) {
  // Linux often numbers the second hardware threads after all the first ones.
  const topology t = topology::from_synthetic("core:4 pu:2(indexes=0,4,1,5,2,6,3,7)");
  EXPECT_THAT(t.compact_order({7, 6, 5, 4, 3, 2, 1, 0}), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(t.compact_order({99, 3, 98, 0}), ElementsAre(0, 3, 98, 99));
}

TEST(topology, names_what_it_cannot_read) {
  const auto refusal = [](const std::string& name) -> std::string {
    try {
      (void)topology::from_name(name);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal("/absent/machine.xml"), HasSubstr("/absent/machine.xml"));
  EXPECT_THAT(refusal("synthetic:nonsense"), HasSubstr("nonsense"));
  EXPECT_THAT(refusal("synthetic:"), HasSubstr("synthetic"));
  const std::string text = ::testing::TempDir() + "/no_machine.xml";
  std::ofstream(text) << "hello\n";
  EXPECT_THAT(refusal(text), HasSubstr("not a file written by lstopo"));
  EXPECT_THAT(refusal("skylake-4x16"),
              HasSubstr("machines that heddle ships, and TOML files, are for heddle sim --machine"));
  for (const char* large : {"synthetic:pu:1000000", "synthetic:pack:100 core:100 pu:2",
                            "synthetic:18446744073709551615", "synthetic:pu:4097"}) {
    EXPECT_THAT(refusal(large), HasSubstr("more than 4096 processing units")) << large;
  }
  EXPECT_THAT(refusal("synthetic:numa:1(memory=-5GiB) pu:2"),
              HasSubstr("a memory of 18446744068340842496 bytes, which cannot be"));
  EXPECT_THAT(refusal("synthetic:l2:1(size=-5) pu:2"), HasSubstr("a cache of"));
}

TEST(topology, this_machine_has_the_units_of_the_mask) {
  const topology t = topology::this_machine();
  expect_sound(t);
  const std::vector<int> mask = affinity_mask();
  ASSERT_FALSE(mask.empty());
  for (const int number : mask) EXPECT_NE(t.unit(number), nullptr) << number;
  EXPECT_EQ(&topology::here(), &topology::here());
  EXPECT_EQ(topology::here().units().size(), t.units().size());
}

TEST(topology, a_copy_outlives_the_original) {
  topology copy = topology::from_synthetic("l2:2 core:1 pu:1");
  {
    const topology original = topology::from_synthetic("l3:4 l2:4 core:1 pu:1");
    copy = original;
  }
  expect_sound(copy);
  EXPECT_EQ(copy.workers(), 16u);
}

TEST(topology, sizes_and_memory_are_no_counts_of_units) {
  EXPECT_EQ(topology::from_synthetic("pack:2 [numa(memory=1000000)] l3:2(size=1000000) pu:4(indexes=0-15)").workers(),
            16u);
}

TEST(topology, large_machines_are_built) {
  const topology t = topology::from_synthetic("pack:8 numa:2 l3:4 l2:8 core:1 pu:2");
  EXPECT_EQ(t.workers(), 1024u);
  EXPECT_EQ(t.view().levels(), 5u);
  EXPECT_EQ(t.view().distance(0, 1023), 4u);
  std::vector<int> numbers;
  for (const processing_unit& u : t.units()) numbers.push_back(u.number);
  EXPECT_EQ(t.for_workers(numbers).view().groups().size(), t.view().groups().size());
}

}  // namespace
}  // namespace topology_test
}  // namespace heddle::machine

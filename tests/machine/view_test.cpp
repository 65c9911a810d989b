// The machine as schedulers and programs see it.
#include <heddle/machine.hpp>
#include <heddle/runtime.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "machine/model.hpp"
#include "machine/topology.hpp"

namespace heddle::machine {
namespace view_test {
namespace {

using ::testing::ElementsAre;

constexpr const char* two_chips = "pack:2 l3:1(size=8388608) l2:2(size=1048576) core:1 pu:1";

TEST(view, a_machine_of_which_nothing_is_known) {
  const view nothing;
  EXPECT_FALSE(nothing.is_known());
  EXPECT_EQ(nothing.workers(), 0u);
  EXPECT_EQ(nothing.levels(), 0u);
  EXPECT_TRUE(nothing.groups().empty());
}

TEST(view, who_shares_which_cache) {
  const topology machine = topology::from_synthetic(two_chips);
  const view seen = machine.view();
  ASSERT_TRUE(seen.is_known());
  EXPECT_EQ(seen.workers(), 4u);
  EXPECT_EQ(seen.levels(), 3u);
  EXPECT_EQ(seen.common_group(0, 1).kind, group_kind::l3);
  EXPECT_EQ(seen.common_group(1, 2).kind, group_kind::memory);
  EXPECT_EQ(seen.distance(2, 3), 1u);
  EXPECT_EQ(seen.distance(0, 3), 2u);
  ASSERT_NE(seen.shared_cache_of(2), nullptr);
  EXPECT_EQ(seen.shared_cache_of(2)->kind, group_kind::l3);
  EXPECT_EQ(seen.shared_cache_of(2)->first_worker, 2u);
  EXPECT_TRUE(seen.shared_cache_of(2)->has(3));
  EXPECT_FALSE(seen.shared_cache_of(2)->has(1));
  EXPECT_THAT(seen.groups_at(1), ElementsAre(seen.common_group(0, 1).id, seen.common_group(2, 3).id));
  EXPECT_EQ(seen.capacity_at(seen.root(), 2), 4u << 20);
}

TEST(view, private_caches_are_no_shared_cache) {
  const topology machine = topology::from_synthetic("pack:2 l2:2(size=1048576) core:1 pu:1");
  EXPECT_EQ(machine.view().shared_cache_of(0), nullptr);
}

TEST(view, latencies_are_those_of_the_machine_file) {
  const model one = model::from_name("nehalem-e5530");
  const view chip = one.tree.view();
  EXPECT_EQ(chip.latency(0, 3), 16.7) << "the L3 that they share";
  EXPECT_EQ(chip.leaf_of(0).latency, 4.2);
  EXPECT_EQ(chip.root().latency, 84);
  const model two = model::from_name("cascadelake-2x28");
  const view sockets = two.tree.view();
  const unsigned last = sockets.workers() - 1;
  ASSERT_NE(sockets.unit_of(0).numa, sockets.unit_of(last).numa);
  EXPECT_EQ(sockets.latency(0, last), two.nodes[1].latency + two.links[1].latency) << "out of the other one's memory";
  EXPECT_EQ(sockets.root().latency, sockets.latency(0, last)) << "the longest way";
  EXPECT_LT(sockets.latency(0, 1), sockets.latency(0, last));
  const std::vector<int> four{sockets.unit_of(0).number, sockets.unit_of(1).number, sockets.unit_of(last - 1).number,
                              sockets.unit_of(last).number};
  const topology few = two.tree.for_workers(four);
  EXPECT_EQ(few.view().latency(0, 3), sockets.latency(0, last)) << "whoever has workers there";
}

TEST(view, latencies_that_nobody_knows_are_0) {
  const topology machine = topology::from_synthetic(two_chips);
  EXPECT_EQ(machine.view().latency(0, 1), 0);
  EXPECT_EQ(machine.view().latency(0, 3), 0);
}

TEST(view, a_runtime_tells_where_its_workers_are) {
  const heddle::runtime rt({.workers = 4, .machine = std::string("synthetic:").append(two_chips)});
  const view seen = rt.machine();
  EXPECT_EQ(seen.workers(), rt.workers());
  EXPECT_EQ(seen.leaf_of(3).first_worker, 3u);
  EXPECT_EQ(seen.root().worker_count, 4u);
  EXPECT_STREQ(name(seen.leaf_of(0).kind), "l2");
  EXPECT_EQ(seen.units_of(seen.root()).size(), 4u);
}

}  // namespace
}  // namespace view_test
}  // namespace heddle::machine

// What schedulers and programs see of a machine.
#include <heddle/machine.hpp>
#include <heddle/runtime.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/topology.hpp"

namespace heddle::machine {
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

TEST(view, a_runtime_tells_where_its_workers_are) {
  const heddle::runtime rt({.workers = 4, .machine = std::string("synthetic:") + two_chips});
  const view seen = rt.machine();
  EXPECT_EQ(seen.workers(), rt.workers());
  EXPECT_EQ(seen.leaf_of(3).first_worker, 3u);
  EXPECT_EQ(seen.root().worker_count, 4u);
  EXPECT_STREQ(name(seen.leaf_of(0).kind), "l2");
  EXPECT_EQ(seen.units_of(seen.root()).size(), 4u);
}

}  // namespace
}  // namespace heddle::machine

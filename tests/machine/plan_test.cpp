#include "machine/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::machine {
namespace plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Models count as machines of their own, so masks and quotas are tried on this machine, read under another name: hwloc
// takes a description marked as this system from the environment.
topology as_this_machine(const char* synthetic) {
  ::setenv("HWLOC_SYNTHETIC", synthetic, 1);
  ::setenv("HWLOC_THISSYSTEM", "1", 1);
  topology t = topology::this_machine();
  ::unsetenv("HWLOC_SYNTHETIC");
  ::unsetenv("HWLOC_THISSYSTEM");
  EXPECT_TRUE(t.is_this_machine());
  return t;
}

limits with(std::vector<int> mask, std::vector<double> quotas = {}) {
  limits l;
  l.mask = std::move(mask);
  for (const double processors : quotas)
    l.quotas.push_back({processors, "/group", "/sys/fs/cgroup/group/cpu.max", true});
  return l;
}

base::option_values asking(unsigned workers) {
  base::option_values o;
  o.workers = workers;
  return o;
}

const char* two_by_two_by_two = "pack:2 l3:1 l2:2 core:1 pu:2";  // units 0..7; 0 and 1 on one core

TEST(plan, one_worker_per_unit_of_the_mask) {
  const topology t = as_this_machine(two_by_two_by_two);
  const worker_plan all = plan(t, with({0, 1, 2, 3, 4, 5, 6, 7}), {});
  EXPECT_THAT(all.units, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_TRUE(all.bind);
  EXPECT_FALSE(all.crowded);
  EXPECT_THAT(all.reason, HasSubstr("8 processing units in the affinity mask"));
  EXPECT_THAT(plan(t, with({1, 2, 6}), {}).units, ElementsAre(1, 2, 6));
}

TEST(plan, quota_is_rounded_up) {
  const topology t = as_this_machine(two_by_two_by_two);
  const std::vector<int> mask = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(plan(t, with(mask, {2}), {}).units.size(), 2u);
  EXPECT_EQ(plan(t, with(mask, {2.01}), {}).units.size(), 3u);
  EXPECT_EQ(plan(t, with(mask, {0.1}), {}).units.size(), 1u);
  EXPECT_EQ(plan(t, with(mask, {64}), {}).units.size(), 8u);
  EXPECT_EQ(plan(t, with({3}, {64}), {}).units.size(), 1u);
  // The tightest of several, with its file as the reason.
  const worker_plan p = plan(t, with(mask, {6, 2.5, 4}), {});
  EXPECT_EQ(p.units.size(), 3u);
  EXPECT_THAT(p.reason, HasSubstr("2.5 processors in /sys/fs/cgroup/group/cpu.max"));
  EXPECT_FALSE(p.bind);
  EXPECT_FALSE(p.crowded);
}

TEST(plan, cores_before_their_second_hardware_threads) {
  const topology t = as_this_machine(two_by_two_by_two);
  const std::vector<int> mask = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_THAT(plan(t, with(mask), asking(2)).units, ElementsAre(0, 2));
  EXPECT_THAT(plan(t, with(mask), asking(4)).units, ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(plan(t, with(mask), asking(5)).units, ElementsAre(0, 1, 2, 4, 6));
  // A second hardware thread is a first one where the mask has no other of its core.
  EXPECT_THAT(plan(t, with({1, 2, 3}), asking(2)).units, ElementsAre(1, 2));
}

TEST(plan, smt_off_takes_one_unit_of_each_core) {
  const topology t = as_this_machine(two_by_two_by_two);
  base::option_values o;
  o.smt = false;
  const worker_plan p = plan(t, with({0, 1, 2, 3, 5}), o);
  EXPECT_THAT(p.units, ElementsAre(0, 2, 5));
  EXPECT_TRUE(p.bind);
  EXPECT_THAT(p.reason, HasSubstr("one of each core: 3"));
}

TEST(plan, fast_cores_first) {
  const topology t = topology::from_xml(HEDDLE_SOURCE_DIR "/tests/machine/data/hybrid.xml");
  EXPECT_THAT(plan(t, {}, asking(2)).units, ElementsAre(0, 8));
  EXPECT_THAT(plan(t, {}, asking(3)).units, ElementsAre(0, 8, 16));
  EXPECT_THAT(plan(t, {}, asking(7)).units, ElementsAre(0, 1, 8, 16, 18, 20, 22));
}

TEST(plan, more_workers_than_units_share_them_evenly) {
  const topology t = as_this_machine("l2:2 core:1 pu:1");
  const worker_plan p = plan(t, with({0, 1}), asking(5));
  EXPECT_THAT(p.units, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_TRUE(p.crowded);
  EXPECT_FALSE(p.bind);
  EXPECT_EQ(t.for_workers(p.units).workers(), 5u);
  // Within the units but beyond the quota is crowded, too.
  EXPECT_TRUE(plan(t, with({0, 1}, {1}), asking(2)).crowded);
  EXPECT_FALSE(plan(t, with({0, 1}, {2}), asking(2)).crowded);
}

TEST(plan, binding_by_option) {
  const topology t = as_this_machine("l2:4 core:1 pu:1");
  const limits l = with({0, 1, 2, 3});
  base::option_values o;
  EXPECT_TRUE(plan(t, l, o).bind);
  o.bind = "off";
  EXPECT_FALSE(plan(t, l, o).bind);
  o.bind = "on";
  o.workers = 2;
  EXPECT_TRUE(plan(t, l, o).bind);
  o.bind = "auto";
  EXPECT_FALSE(plan(t, l, o).bind);
  o.workers = 4;
  EXPECT_TRUE(plan(t, l, o).bind);
}

TEST(plan, a_model_is_not_limited_by_this_machine) {
  const topology t = topology::from_synthetic("l3:2 l2:8 core:1 pu:1");
  const worker_plan p = plan(t, with({0}, {0.5}), {});
  EXPECT_EQ(p.units.size(), 16u);
  EXPECT_THAT(p.reason, HasSubstr("of the machine"));
}

TEST(plan, a_mask_the_topology_does_not_know_counts_all_the_same) {
  const topology t = as_this_machine("l2:2 core:1 pu:1");
  const worker_plan p = plan(t, with({40, 41, 42}), {});
  EXPECT_THAT(p.units, ElementsAre(40, 41, 42));
  EXPECT_EQ(t.for_workers(p.units).workers(), 3u);
  EXPECT_THAT(plan(t, with({1, 40}), {}).units, ElementsAre(1));
  EXPECT_THAT(plan(t, with({}), {}).units, ElementsAre(0, 1));
}

TEST(plan, this_machine) {
  const worker_plan p = plan(topology::here(), read_limits(), {});
  EXPECT_GE(p.units.size(), 1u);
  EXPECT_LE(p.units.size(), affinity_mask().size());
  EXPECT_FALSE(p.crowded);
}

}  // namespace
}  // namespace plan_test
}  // namespace heddle::machine

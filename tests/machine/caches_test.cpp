// Every cache of a machine, also those that the tree of groups merges; and machines made from others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "machine/topology.hpp"

namespace heddle::machine {
namespace caches_test {
namespace {

const std::string two_sockets = "pack:2 l3:1(size=8MiB) l2:2(size=1MiB) l1d:1(size=32KiB) core:1 pu:2";

TEST(caches, all_levels_innermost_first) {
  const topology t = topology::from_synthetic(two_sockets);
  const auto caches = t.caches();
  ASSERT_EQ(caches.size(), 10u);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(caches[i].kind, group_kind::l1);
    EXPECT_EQ(caches[i].capacity, 32u << 10);
    EXPECT_EQ(caches[i].line_size, 64u);
    EXPECT_EQ(caches[i].first_unit, 2 * i);
    EXPECT_EQ(caches[i].last_unit, 2 * i + 2);
    EXPECT_EQ(caches[4 + i].kind, group_kind::l2);
  }
  EXPECT_EQ(caches[9].kind, group_kind::l3);
  EXPECT_EQ(caches[9].first_unit, 4u);
  EXPECT_EQ(caches[9].last_unit, 8u);
  EXPECT_TRUE(topology::from_synthetic("pu:2").caches().empty());
}

TEST(caches, workers_do_not_change_them) {
  const topology t = topology::from_synthetic(two_sockets);
  EXPECT_EQ(t.for_workers(std::vector<int>{0, 4}).caches().size(), t.caches().size());
}

TEST(caches, other_numbers_reach_the_groups) {
  const topology t = topology::from_synthetic(two_sockets).for_workers(std::vector<int>{0, 2, 4, 6});
  std::vector<cache_info> caches(t.caches().begin(), t.caches().end());
  for (cache_info& c : caches) {
    if (c.kind == group_kind::l2) c.capacity = 2u << 20, c.associativity = 16;
  }
  const topology made = t.with_caches(caches);
  EXPECT_EQ(made.workers(), 4u);
  EXPECT_EQ(made.view().leaf_of(3).capacity, 2u << 20);
  EXPECT_EQ(made.view().leaf_of(3).associativity, 16);
  EXPECT_EQ(made.view().unit_of(3).number, 6);
  EXPECT_EQ(t.view().leaf_of(3).capacity, 1u << 20);
  caches.pop_back();
  EXPECT_THROW((void)t.with_caches(caches), std::invalid_argument);
}

TEST(caches, kinds_reach_units_workers_and_sums) {
  const topology t = topology::from_synthetic("l2:4 core:1 pu:1");
  const std::vector<unsigned> kinds = {1, 0, 0, 1};
  const std::vector<double> speeds = {0.5, 1};
  const topology made = t.with_kinds(kinds, speeds);
  EXPECT_EQ(made.kinds_of_core(), 2u);
  EXPECT_EQ(made.unit(1)->speed, 0.5);
  EXPECT_EQ(made.view().unit_of(2).kind, 0u);
  EXPECT_EQ(made.view().root().speed, 3);
  EXPECT_EQ(made.for_workers(std::vector<int>{1, 2}).view().root().speed, 1);
  EXPECT_EQ(t.view().root().speed, 4);
  EXPECT_THROW((void)t.with_kinds(std::vector<unsigned>{0}, speeds), std::invalid_argument);
  EXPECT_THROW((void)t.with_kinds(std::vector<unsigned>{0, 0, 2, 0}, speeds), std::invalid_argument);
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW((void)t.with_kinds(kinds, std::vector<double>{wrong, 1}), std::invalid_argument);
  }
}

TEST(caches, this_machine_as_xml_is_the_same_machine) {
  const std::string xml = topology::this_machine_xml();
  ASSERT_FALSE(xml.empty());
  const topology t = topology::from_xml_text(xml, "copy");
  EXPECT_EQ(t.name(), "copy");
  EXPECT_FALSE(t.is_this_machine());
  EXPECT_EQ(t.units().size(), topology::this_machine().units().size());
  EXPECT_EQ(t.caches().size(), topology::this_machine().caches().size());
  EXPECT_EQ(t.named("other").name(), "other");
  EXPECT_THROW((void)topology::from_xml_text("hello", "no"), std::invalid_argument);
}

TEST(caches, node_sizes) {
  const topology t = topology::from_synthetic("numa:2(memory=4GiB) l3:1 core:2 pu:1");
  EXPECT_EQ(t.node_bytes(0), std::uint64_t{4} << 30);
  EXPECT_EQ(t.node_bytes(1), std::uint64_t{4} << 30);
  EXPECT_EQ(t.node_bytes(2), 0u);
}

}  // namespace
}  // namespace caches_test
}  // namespace heddle::machine

// The machines that come with heddle: each can be built, and those of the papers have the papers' figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "machine/model.hpp"
#include "machine/plan.hpp"

namespace heddle::machine {
namespace shipped_test {
namespace {

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB;

class shipped : public ::testing::TestWithParam<std::string> {};

TEST_P(shipped, is_sound) {
  const model m = model::from_name(GetParam());
  EXPECT_EQ(m.name, GetParam());
  EXPECT_EQ(m.tree.name(), GetParam());
  EXPECT_FALSE(m.tree.is_this_machine());
  EXPECT_NE(m.title, "");
  EXPECT_FALSE(m.sources.empty());
  EXPECT_GT(m.frequency, 0.5);
  // Nothing but the runtime's own operations may be left to the defaults.
  for (const std::string& key : m.assumed) {
    EXPECT_TRUE(key.find(':') != std::string::npos || key.starts_with("costs.") || key == "page_size" ||
                key == "time_slice" || (key.starts_with("links.") && m.nodes.size() == 1))
        << key;
  }
  double before = 0;
  std::set<group_kind> kinds;
  for (const cache_info& c : m.tree.caches()) kinds.insert(c.kind);
  EXPECT_EQ(kinds.size(), m.caches.size());
  for (const cache_level& level : m.caches) {
    EXPECT_GT(level.latency, before);
    before = level.latency;
  }
  for (const memory_node& n : m.nodes) {
    EXPECT_GT(n.latency, before);
    EXPECT_GT(n.bandwidth, 1);
    EXPECT_GT(m.tree.node_bytes(n.numa), 1024 * MiB);
  }
  EXPECT_EQ(m.links.size(), m.nodes.size() * (m.nodes.size() - 1));
  for (const cache_info& c : m.tree.caches()) {
    EXPECT_EQ(c.line_size, 64u);
    ASSERT_GT(c.associativity, 0);
    EXPECT_EQ(c.capacity % (64u * static_cast<unsigned>(c.associativity)), 0u);
  }
  for (const cost_key& cost : cost_keys()) EXPECT_GT(m.costs.*cost.member, 0) << cost.name;
  // Every unit gets its worker, and no unit shares a core: hardware threads are left out.
  base::option_values options;
  EXPECT_EQ(plan(m.tree, limits{}, options).units.size(), m.tree.units().size());
  for (const processing_unit& u : m.tree.units()) EXPECT_EQ(u.sibling, 0u);
}

TEST_P(shipped, says_where_each_figure_is_from) {
  const model m = model::from_name(GetParam());
  std::set<std::string> keys;
  for (const figure& f : m.figures) {
    EXPECT_NE(f.from, figure::origin::untold) << f.key;
    EXPECT_NE(f.why, "") << f.key;
    if (f.from == figure::origin::assumed && f.key != "core.speed") {
      EXPECT_GT(f.most, 0) << f.key << ": the range in which it may lie";
    }
    EXPECT_TRUE(keys.insert(f.key).second) << f.key;
  }
  for (const cache_level& level : m.caches)
    EXPECT_TRUE(keys.contains(std::string("cache.") + name(level.kind) + ".latency"));
  for (const char* key : {"frequency", "overlap", "window", "memory.latency", "memory.bandwidth"})
    EXPECT_TRUE(keys.contains(key)) << key;
  if (m.nodes.size() > 1) {
    for (const char* key : {"links.latency", "links.bandwidth", "links.transfer", "links.upgrade"})
      EXPECT_TRUE(keys.contains(key)) << key;
  }
  for (const cost_key& cost : cost_keys()) EXPECT_TRUE(keys.contains(std::string("costs.") + cost.name));
}

INSTANTIATE_TEST_SUITE_P(machines, shipped, ::testing::ValuesIn(model::shipped()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

struct expected {
  const char* name;
  unsigned workers, packages, nodes;
  double frequency;
  std::uint64_t l1, l2, l3;  // bytes of one cache
  unsigned l3_sharing;
};

TEST(shipped_machines, have_the_figures_of_their_papers) {
  const expected table[] = {
      {"skylake-4x16", 64, 4, 4, 2.1, 32 * KiB, 1 * MiB, 22 * MiB, 16},
      {"cascadelake-2x28", 56, 2, 2, 2.7, 32 * KiB, 1 * MiB, 39424 * KiB, 28},
      {"skylake-2x28", 56, 2, 2, 2.5, 32 * KiB, 1 * MiB, 39424 * KiB, 28},
      {"skylake-2x20", 40, 2, 2, 2.4, 32 * KiB, 1 * MiB, 28160 * KiB, 20},
      {"opteron-8380-4x4", 16, 4, 4, 2.5, 64 * KiB, 512 * KiB, 6 * MiB, 4},
      {"xeon-x7560-4x8", 32, 4, 4, 2.262, 32 * KiB, 256 * KiB, 24 * MiB, 8},
      {"xeon-x7560-4x1", 4, 4, 4, 2.262, 32 * KiB, 256 * KiB, 24 * MiB, 1},
      {"nehalem-e5530", 4, 1, 1, 2.4, 32 * KiB, 256 * KiB, 8 * MiB, 4},
      {"nehalem-e5530-private-l3", 4, 1, 1, 2.4, 32 * KiB, 256 * KiB, 2 * MiB, 1},
      {"nehalem-e5530-no-l3", 4, 1, 1, 2.4, 32 * KiB, 256 * KiB, 0, 0},
      {"opteron-2x2", 4, 2, 2, 2.2, 64 * KiB, 1 * MiB, 0, 0},
      {"epyc-7763-2x64", 128, 2, 2, 3.0, 32 * KiB, 512 * KiB, 32 * MiB, 8},
      {"epyc-9654-2x96", 192, 2, 2, 3.55, 32 * KiB, 1 * MiB, 32 * MiB, 8},
      {"sapphirerapids-2x56", 112, 2, 2, 3.0, 48 * KiB, 2 * MiB, 105 * MiB, 56},
      {"grace-2x72", 144, 2, 2, 3.1, 64 * KiB, 1 * MiB, 114 * MiB, 72},
      {"grace-72", 72, 1, 1, 3.1, 64 * KiB, 1 * MiB, 114 * MiB, 72},
  };
  for (const expected& e : table) {
    SCOPED_TRACE(e.name);
    const model m = model::from_name(e.name);
    EXPECT_EQ(m.tree.workers(), e.workers);
    EXPECT_EQ(m.nodes.size(), e.nodes);
    EXPECT_EQ(m.frequency, e.frequency);
    std::set<unsigned> packages;
    for (const processing_unit& u : m.tree.units()) packages.insert(u.package);
    EXPECT_EQ(packages.size(), e.packages);
    std::map<group_kind, std::set<std::uint64_t>> sizes;
    unsigned l3_sharing = 0, l2_sharing = 0;
    for (const cache_info& c : m.tree.caches()) {
      sizes[c.kind].insert(c.capacity);
      if (c.kind == group_kind::l3) l3_sharing = c.last_unit - c.first_unit;
      if (c.kind == group_kind::l2) l2_sharing = c.last_unit - c.first_unit;
    }
    EXPECT_EQ(sizes[group_kind::l1], std::set<std::uint64_t>{e.l1});
    EXPECT_EQ(sizes[group_kind::l2], std::set<std::uint64_t>{e.l2});
    EXPECT_EQ(sizes[group_kind::l3], e.l3 == 0 ? std::set<std::uint64_t>{} : std::set<std::uint64_t>{e.l3});
    EXPECT_EQ(l2_sharing, 1u);
    EXPECT_EQ(l3_sharing, e.l3_sharing);
  }
}

TEST(shipped_machines, asymmetric_settings_count_their_cores) {
  const std::map<std::string, std::vector<double>> speeds = {{"opteron-8380-a-", {2.5, 1.8, 1.3, 0.8}},
                                                             {"xeon-x7560-i-", {2.262, 1.862, 1.463, 1.064}}};
  unsigned settings = 0;
  for (const std::string& name : model::shipped()) {
    for (const auto& [prefix, frequencies] : speeds) {
      if (!name.starts_with(prefix)) continue;
      ++settings;
      SCOPED_TRACE(name);
      unsigned wanted[4];
      ASSERT_EQ(
          std::sscanf(name.c_str() + prefix.size(), "%u-%u-%u-%u", &wanted[0], &wanted[1], &wanted[2], &wanted[3]), 4);
      const model m = model::from_name(name);
      unsigned total = 0;
      for (int i = 0; i < 4; ++i) {
        const double speed = frequencies[i] / frequencies[0];
        const auto units = m.tree.units();
        EXPECT_EQ(std::count_if(units.begin(), units.end(),
                                [&](const processing_unit& u) { return std::abs(u.speed - speed) < 0.001; }),
                  wanted[i]);
        total += wanted[i];
      }
      EXPECT_EQ(m.tree.workers(), total);
      EXPECT_EQ(m.tree.unit(0)->speed, 1);                  // the fastest first
      EXPECT_EQ(m.tree.unit(0)->kind, m.kinds.size() - 1);  // kinds by efficiency
      EXPECT_EQ(m.tree.kinds_of_core(), m.kinds.size());
    }
  }
  EXPECT_EQ(settings, 10u);
}

TEST(shipped_machines, the_hybrid_has_two_kinds_and_two_shapes_of_caches) {
  const model m = model::from_name("alderlake-8p8e");
  EXPECT_EQ(m.tree.workers(), 16u);
  ASSERT_EQ(m.kinds.size(), 2u);
  EXPECT_EQ(m.kinds[0].name, "efficient");
  EXPECT_EQ(m.tree.unit(0)->speed, 1);
  EXPECT_EQ(m.tree.unit(15)->speed, m.kinds[0].speed);
  std::set<std::uint64_t> l1, l2;
  for (const cache_info& c : m.tree.caches()) {
    if (c.kind == group_kind::l1) l1.insert(c.capacity);
    if (c.kind == group_kind::l2) l2.insert(c.capacity);
  }
  EXPECT_EQ(l1, (std::set<std::uint64_t>{32 * KiB, 48 * KiB}));
  EXPECT_EQ(l2, (std::set<std::uint64_t>{1280 * KiB, 2 * MiB}));
}

// The figures that `heddle sim --sensitivity` puts in also make a valid machine.
TEST(shipped_machines, assumed_figures_may_have_all_values_of_their_ranges) {
  const std::string file = ::testing::TempDir() + "heddle_assumed_figure.toml";
  for (const std::string& name : model::shipped()) {
    if (name.find("-a-") != std::string::npos || name.find("-i-") != std::string::npos) continue;
    for (const figure& f : model::from_name(name).figures) {
      if (f.from != figure::origin::assumed || f.least == f.most || f.key.starts_with("link.") ||
          f.key.starts_with("core."))
        continue;
      EXPECT_LE(f.least, f.value) << name << " " << f.key;
      EXPECT_GE(f.most, f.value) << name << " " << f.key;
      for (const double value : {f.least, f.most}) {
        std::ofstream(file) << f.key << " = " << value << "\n";
        EXPECT_NO_THROW((void)model::from_name(name + "+" + file)) << name << " " << f.key << " = " << value;
      }
    }
  }
}

// AnandTech, "The Intel Skylake-X Review", 2017.
TEST(shipped_machines, of_skylake_and_cascade_lake_have_victim_caches) {
  for (const std::string& name : model::shipped()) {
    const model m = model::from_name(name);
    const bool expected = name.starts_with("skylake") || name.starts_with("cascadelake");
    for (const cache_level& level : m.caches) EXPECT_EQ(level.victim, expected && level.kind == group_kind::l3) << name;
  }
}

TEST(shipped_machines, sockets_in_a_square_have_long_diagonals) {
  const model m = model::from_name("opteron-8380-4x4");
  std::map<std::pair<int, int>, double> latency;
  for (const memory_link& l : m.links) latency[{l.from, l.to}] = l.latency;
  EXPECT_EQ(latency.at({0, 3}), 2 * latency.at({0, 1}));
  EXPECT_EQ(latency.at({3, 0}), latency.at({0, 3}));
  EXPECT_EQ(latency.at({2, 1}), latency.at({0, 3}));
  EXPECT_EQ(latency.at({2, 3}), latency.at({0, 1}));
}

TEST(shipped_machines, their_text_is_at_hand) {
  EXPECT_NE(model::shipped_text("skylake-4x16").find("Gold 6130"), std::string_view::npos);
  EXPECT_THROW((void)model::shipped_text("nothing"), std::invalid_argument);
  EXPECT_GE(model::shipped().size(), 25u);
}

}  // namespace
}  // namespace shipped_test
}  // namespace heddle::machine

// heddle group: the sharing graph, orders and parts against others by brute force, and what the command refuses. On
// programs: tests/sim/group_test.cpp.
#include "captured.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "cli/group/partition.hpp"
#include "cli/group/recursive.hpp"
#include "cli/group/sharing.hpp"
#include "machine/topology.hpp"
#include "policy/grouped/grouping.hpp"

namespace heddle::cli {
namespace group_test {
namespace {

using policy::profiled_task;
using ::testing::HasSubstr;

#define SKIP_WITHOUT_METIS() \
  if (!has_metis()) GTEST_SKIP() << "built without METIS"

using lines = std::set<std::uint64_t>;

std::uint32_t drawn(std::uint32_t& state, std::uint32_t bound) {
  state = state * 1664525 + 1013904223;
  return (state >> 8) % bound;
}

// Tasks with sets of lines as they come, and the graph of them.
struct some_tasks {
  explicit some_tasks(std::vector<lines> which) : sets(std::move(which)) {
    for (const lines& s : sets) {
      profiled_task& t = profile.emplace_back();
      t.weight = 1;
      for (const std::uint64_t line : s) t.lines.add(line, line);
    }
  }
  static some_tasks at_random(std::uint32_t seed, unsigned count, unsigned of_lines, unsigned each) {
    std::vector<lines> sets(count);
    for (lines& s : sets)
      for (unsigned i = 0; i < each; ++i) s.insert(drawn(seed, of_lines));
    return some_tasks(std::move(sets));
  }
  [[nodiscard]] std::uint64_t shared(unsigned a, unsigned b) const {
    return static_cast<std::uint64_t>(
        std::count_if(sets[a].begin(), sets[a].end(), [&](std::uint64_t l) { return sets[b].contains(l); }));
  }

  std::vector<lines> sets;
  std::vector<profiled_task> profile;
};

TEST(sharing, the_graph_has_the_lines_that_both_touch) {
  for (std::uint32_t seed = 1; seed < 6; ++seed) {
    some_tasks tasks = some_tasks::at_random(seed, 12, 200, 40);
    const sharing_graph graph(tasks.profile);
    for (unsigned a = 0; a < 12; ++a) {
      std::map<unsigned, std::uint64_t> found;
      for (const sharing_graph::edge& e : graph.edges(a)) found[e.to] = e.lines;
      for (unsigned b = 0; b < 12; ++b) EXPECT_EQ(found[b], a == b ? 0 : tasks.shared(a, b));
      EXPECT_EQ(graph.lines_of_task(a), tasks.sets[a].size());
    }
    lines all;
    for (unsigned t = 2; t < 7; ++t) all.insert(tasks.sets[t].begin(), tasks.sets[t].end());
    EXPECT_EQ(graph.lines_of(std::vector<unsigned>{2, 3, 4, 5, 6}), all.size());
  }
}

TEST(sharing, lines_that_everybody_touches_make_no_edges) {
  std::vector<lines> sets(sharing_graph::most_sharers + 1);
  for (std::size_t i = 0; i < sets.size(); ++i) sets[i] = {0, 10 + i / 2};
  some_tasks tasks(sets);
  const sharing_graph graph(tasks.profile);
  ASSERT_EQ(graph.edges(0).size(), 1u);
  EXPECT_EQ(graph.edges(0)[0].to, 1u);
  EXPECT_EQ(graph.edges(0)[0].lines, 1u);
}

// Each next one shares the most with the union of all before, as counted line by line.
TEST(sharing, orders_take_the_largest_intersection_with_all_before) {
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    some_tasks tasks = some_tasks::at_random(seed, 15, 120, 15);
    const sharing_graph graph(tasks.profile);
    std::vector<std::vector<unsigned>> pieces;
    for (unsigned t = 0; t < graph.tasks(); ++t)
      pieces.emplace_back(graph.pieces_of(t).begin(), graph.pieces_of(t).end());
    const std::vector<unsigned> order = order_by_sharing(graph, pieces);
    ASSERT_EQ(std::set<unsigned>(order.begin(), order.end()).size(), 15u);
    EXPECT_EQ(order[0], 0u);
    lines before = tasks.sets[0];
    const auto shares = [&](unsigned t) {
      return std::count_if(tasks.sets[t].begin(), tasks.sets[t].end(),
                           [&](std::uint64_t l) { return before.contains(l); });
    };
    for (std::size_t i = 1; i < order.size(); ++i) {
      for (std::size_t later = i + 1; later < order.size(); ++later) {
        EXPECT_GE(shares(order[i]), shares(order[later]));
        if (shares(order[i]) == shares(order[later])) {
          EXPECT_LT(order[i], order[later]) << "of equal ones the first";
        }
      }
      before.insert(tasks.sets[order[i]].begin(), tasks.sets[order[i]].end());
    }
  }
}

TEST(parts, are_the_best_halves_of_small_graphs) {
  SKIP_WITHOUT_METIS();
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    some_tasks tasks = some_tasks::at_random(seed, 10, 60, 12);
    const sharing_graph graph(tasks.profile);
    const auto cut = [&](unsigned side) {  // by bits: lines that are shared over the cut
      std::uint64_t sum = 0;
      for (unsigned a = 0; a < 10; ++a)
        for (unsigned b = a + 1; b < 10; ++b)
          if ((side >> a & 1) != (side >> b & 1)) sum += tasks.shared(a, b);
      return sum;
    };
    std::uint64_t best = ~std::uint64_t{0};
    for (unsigned side = 0; side < 1u << 10; ++side)
      if (std::popcount(side) == 5) best = std::min(best, cut(side));
    std::vector<unsigned> all(10);
    std::iota(all.begin(), all.end(), 0u);
    const auto halves = partition(graph, all, std::vector<double>{1, 1});
    ASSERT_EQ(halves.size(), 2u);
    EXPECT_EQ(halves[0].size(), 5u) << seed;
    unsigned side = 0;
    for (const unsigned t : halves[0]) side |= 1u << t;
    EXPECT_LE(static_cast<double>(cut(side)), 1.1 * static_cast<double>(best)) << seed;
  }
}

TEST(parts, have_weights_by_their_shares) {
  SKIP_WITHOUT_METIS();
  some_tasks tasks = some_tasks::at_random(7, 300, 2000, 20);
  std::uint32_t seed = 3;
  double whole = 0;
  for (profiled_task& t : tasks.profile) whole += t.weight = 1e6 * (1 + drawn(seed, 5));
  const sharing_graph graph(tasks.profile);
  std::vector<unsigned> all(300);
  std::iota(all.begin(), all.end(), 0u);
  const std::vector<double> shares{4, 2, 1, 1};
  const auto parts = partition(graph, all, shares);
  std::size_t count = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    double weight = 0;
    for (const unsigned t : parts[p]) weight += graph.weight(t);
    EXPECT_NEAR(weight / whole, shares[p] / 8, 0.02) << p;
    count += parts[p].size();
  }
  EXPECT_EQ(count, 300u);
  EXPECT_EQ(partition(graph, all, shares), parts) << "the same at each call";
}

TEST(parts, of_fewer_tasks_than_parts_have_one_each) {
  some_tasks tasks = some_tasks::at_random(1, 3, 10, 4);
  const sharing_graph graph(tasks.profile);
  SKIP_WITHOUT_METIS();
  const auto parts = partition(graph, std::vector<unsigned>{0, 2}, std::vector<double>(4, 1));
  EXPECT_EQ(parts, (std::vector<std::vector<unsigned>>{{0}, {2}, {}, {}}));
}

// Sixteen clusters of tasks; those of a cluster share all they have. Four sockets of two workers.
TEST(recursion, puts_what_shares_under_one_cache_in_groups_that_fit) {
  SKIP_WITHOUT_METIS();
  std::vector<lines> sets(64);
  for (unsigned t = 0; t < 64; ++t)
    for (std::uint64_t l = 0; l < 64; ++l) sets[t].insert(t * 7 % 16 * 64 + l);  // 4 KiB a cluster
  some_tasks tasks(sets);
  const sharing_graph graph(tasks.profile);
  const auto machine = machine::topology::from_synthetic("pack:4 l3:1(size=8192) l2:2(size=4096) core:1 pu:1");
  const policy::grouping::site site = group_tasks(graph, machine.view(), 64);
  std::vector<bool> seen(64, false);
  for (unsigned w = 0; w < 8; ++w) {
    unsigned count = 0;
    for (const policy::grouping::group& g : site.workers[w]) {
      EXPECT_LE(graph.lines_of(g) * 64, 4096u) << "a group fits into its worker's cache";
      for (const unsigned t : g) {
        EXPECT_FALSE(seen[t]);
        seen[t] = true;
      }
      count += static_cast<unsigned>(g.size());
    }
    EXPECT_EQ(count, 8u) << w;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 64);
  for (const group_quality& q : quality_of(site, graph, machine.view())) EXPECT_DOUBLE_EQ(q.within, 1) << q.level;
  EXPECT_DOUBLE_EQ(imbalance_of(site, graph), 1);
}

class group_command : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / ("heddle_group_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string write(const std::string& text) const {
    std::ofstream(file("profile")) << text;
    return file("profile");
  }

 private:
  std::filesystem::path folder_;
};

const std::string declared =
    "heddle-profile 1\n# two pairs that share a page each\nsite 0 tasks 4\ntask 0 weight 1 bytes 0-4095\n"
    "task 1 weight 1 bytes 8192-12287\ntask 2 weight 1 bytes 0-4095\ntask 3 weight 1 bytes 8192-12287\n";
const std::string machine = "synthetic:pack:2 l3:1(size=1MiB) l2:1(size=64KiB) core:1 pu:1";

TEST_F(group_command, groups_by_declared_bytes) {
  SKIP_WITHOUT_METIS();
  const captured o =
      run_captured({"group", "--machine", machine, "--profile", write(declared), "-o", file("grouping")});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("site 0: 4 tasks in 2 groups; the most a worker has, of the mean: 1.00"));
  const policy::grouping g = policy::grouping::read(file("grouping"));
  EXPECT_EQ(g.workers, 2u);
  std::set<policy::grouping::group> groups{g.sites[0].workers[0].at(0), g.sites[0].workers[1].at(0)};
  EXPECT_EQ(groups, (std::set<policy::grouping::group>{{0, 2}, {1, 3}}));
}

TEST_F(group_command, says_that_it_was_built_without_metis) {
  if (has_metis()) GTEST_SKIP() << "built with METIS";
  const captured o =
      run_captured({"group", "--machine", machine, "--profile", write(declared), "-o", file("grouping")});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("built without METIS"));
  EXPECT_THAT(o.err, HasSubstr("libmetis-dev"));
}

TEST_F(group_command, refuses_what_it_cannot_do) {
  const std::string out = file("grouping"), profile = write(declared);
  expect_refused(run_captured({"group", "-o", out}), {"nothing to group"});
  expect_refused(run_captured({"group", "--profile", profile}), {"no output"});
  expect_refused(run_captured({"group", "--profile", profile, "-o", out, "--", "true"}), {"give one of them"});
  expect_refused(run_captured({"group", "--profile", profile, "--save-profile", out, "-o", out}), {"--save-profile"});
  expect_refused(run_captured({"group", "--profile", file("none"), "-o", out}), {"--profile: ", "No such file"});
  expect_refused(run_captured({"group", "--machine", "opteron-8380", "--profile", profile, "-o", out}),
                 {"--machine: ", "opteron-8380"});
  expect_refused(run_captured({"group", "--profile", write(declared + "task 4 weight 1\n"), "-o", out}),
                 {"profile:8: task 4 is unknown: site 0 has tasks 0 to 3"});
}

}  // namespace
}  // namespace group_test
}  // namespace heddle::cli

// The tree that CAB and LAWS keep from one iteration to the next: who is who, what is summed up, where it is cut; and
// the search of Algorithm 6, against one that tries everything.
#include "policy/sockets/task_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "policy/sockets/cut_search.hpp"
#include "policy/sockets/soid_profile.hpp"
#include "support/idle_host.hpp"

namespace task_tree_test {
namespace {

using namespace heddle::policy;

constexpr char here = 0, there = 0;  // labels

class task_tree_test : public testing::Test {
 protected:
  task_tree_test() : host(2) { tree.start(host); }

  tier_node* child(tier_node& parent, std::uint64_t misses = 0, std::uint64_t instructions = 0) {
    tier_node* n = tree.next_child(0, *site, parent);
    n->level = parent.level + 1;
    n->width = 2 * parent.width;
    n->share = 0.5;
    n->misses = misses;
    n->instructions = instructions;
    n->measured = n->counted = true;
    return n;
  }
  // A binary tree of tasks with `leaves` leaves of so many misses, as a group of two makes it.
  void grow(tier_node& parent, unsigned leaves, std::uint64_t misses) {
    for (int i = 0; i < 2; ++i) {
      tier_node* c = child(parent, leaves == 2 ? misses : 0);
      if (leaves > 2) grow(*c, leaves / 2, misses);
      task_tree::leave(*c);
    }
  }
  tree_site* begin(const void* label = &here) { return site = tree.begin(0, label); }
  static double soid(const tier_node& n) { return n.soid; }
  static bool everywhere(const tier_node&) { return true; }
  // Accepts nodes that leave a task for each of so many sockets.
  static auto for_sockets(double sockets) {
    return [sockets](const tier_node& n) { return n.width >= sockets; };
  }
  std::vector<std::uint32_t> levels_of_roots() const {
    std::vector<std::uint32_t> all;
    task_tree::walk(site->root, [&](tier_node& n) {
      if (n.cut) all.push_back(n.level);
      return !n.cut;
    });
    return all;
  }

  heddle_test::idle_host host;
  task_tree tree;
  tree_site* site{nullptr};
};

TEST_F(task_tree_test, gives_a_task_the_node_of_its_number_in_each_iteration) {
  begin();
  std::vector<tier_node*> first;
  for (int i = 0; i < 3; ++i) first.push_back(child(*site->root));
  tier_node* below = child(*first[1]);
  for (tier_node* n : {below, first[0], first[1], first[2]}) task_tree::leave(*n);
  tree.end(*site);
  begin();
  EXPECT_EQ(site->passes, 1u);
  EXPECT_EQ(site->root->had, 3u);
  for (tier_node* n : first) EXPECT_EQ(child(*site->root), n);
  EXPECT_EQ(child(*first[1]), below);
  EXPECT_EQ(child(*site->root)->first_child, nullptr) << "one more than before is new";
}

TEST_F(task_tree_test, passes_over_a_child_that_is_alive_still) {
  begin();
  tier_node* slow = child(*site->root);
  tier_node* fast = child(*site->root);
  task_tree::leave(*fast);
  tree.end(*site);
  begin();
  EXPECT_EQ(child(*site->root), fast);
  EXPECT_NE(child(*site->root), slow);
}

TEST_F(task_tree_test, keeps_one_tree_for_each_place_and_each_iteration_at_a_time) {
  tree_site* one = begin();
  tree_site* two = begin();
  tree_site* other = begin(&there);
  EXPECT_NE(one, two);
  EXPECT_NE(one, other);
  tree.end(*one);
  EXPECT_EQ(begin(), one);
  std::vector<char> labels(2 * task_tree::most_sites);
  for (char& label : labels) {  // more than there is room for
    if (begin(&label) != nullptr) tree.end(*site);
  }
  EXPECT_EQ(begin(&labels.back()), site);
}

// Eq. 3.6: what a task has missed itself, and what its children sum up to.
TEST_F(task_tree_test, sums_up_from_below) {
  begin();
  tier_node* a = child(*site->root, 1);
  child(*a, 10);
  child(*a, 20);
  child(*site->root, 5);
  EXPECT_TRUE(tree.sum_up(0, *site, 64));
  EXPECT_EQ(a->soid, 31 * 64);
  EXPECT_EQ(site->root->soid, 36 * 64) << "its own are not known before it ends";
}

// The second half has counts of its own, the first one runs in its owner's thread.
TEST_F(task_tree_test, takes_the_first_half_of_a_fork_to_be_as_large_as_its_second) {
  begin();
  tier_node* first = child(*site->root);
  tier_node* second = child(*site->root, 8);
  first->inlined = true;
  first->measured = first->counted = false;
  first->share = 0.75, second->share = 0.25;
  tier_node* inner_first = child(*second);
  tier_node* inner_second = child(*second, 4);
  inner_first->inlined = true;
  EXPECT_TRUE(tree.sum_up(0, *site, 1));
  EXPECT_EQ(inner_second->soid, 4);
  EXPECT_EQ(inner_first->soid, 4);
  EXPECT_EQ(second->soid, 12) << "its thread's and the inner task's, once each";
  EXPECT_EQ(first->soid, 36);
  EXPECT_EQ(site->root->soid, 48);
}

TEST_F(task_tree_test, knows_nothing_where_a_task_has_no_figures) {
  begin();
  child(*site->root, 3);
  child(*site->root, 3)->measured = false;
  EXPECT_FALSE(tree.sum_up(0, *site, 64));
  EXPECT_EQ(site->root->soid, 0);
}

TEST_F(task_tree_test, drops_what_the_last_iteration_did_not_have) {
  begin();
  grow(*site->root, 16, 1);
  const auto nodes = site->nodes.load();
  tree.end(*site);
  begin();
  task_tree::leave(*child(*site->root, 7));
  EXPECT_TRUE(tree.sum_up(0, *site, 1));
  EXPECT_EQ(site->root->soid, 7);
  EXPECT_EQ(nodes, 31u);
  EXPECT_EQ(site->nodes.load(), 2u);
}

// 64 leaves of one line: a subtree of level l has 64 / 2^(l-1) lines.
TEST_F(task_tree_test, is_cut_where_data_fits_for_the_first_time) {
  begin();
  grow(*site->root, 64, 1);
  ASSERT_TRUE(tree.sum_up(0, *site, 1));
  EXPECT_EQ(tree.cut(*site, 16, soid, everywhere), 4u) << "16 lines fit into 16";
  EXPECT_EQ(levels_of_roots(), std::vector<std::uint32_t>(4, 3));
  EXPECT_EQ(tree.cut(*site, 15, soid, everywhere), 8u);
  EXPECT_EQ(tree.cut(*site, 0.5, soid, everywhere), 64u) << "what fits nowhere is cut at its leaves";
  EXPECT_EQ(tree.cut(*site, 1000, soid, everywhere), 1u) << "the book's: a single socket would work";
  EXPECT_EQ(tree.cut(*site, 1000, soid, for_sockets(4)), 4u) << "each socket has something";
  EXPECT_EQ(levels_of_roots(), std::vector<std::uint32_t>(4, 3));
  EXPECT_EQ(tree.cut(*site, 1000, soid, for_sockets(1000)), 64u) << "there are no more";
}

TEST_F(task_tree_test, is_cut_at_unlike_levels_where_it_is_not_full) {
  begin();
  tier_node* large = child(*site->root);
  grow(*large, 32, 1);
  child(*site->root, 4);
  ASSERT_TRUE(tree.sum_up(0, *site, 1));
  EXPECT_EQ(tree.cut(*site, 8, soid, everywhere), 5u);
  EXPECT_EQ(levels_of_roots(), (std::vector<std::uint32_t>{4, 4, 4, 4, 2}));
}

TEST_F(task_tree_test, moves_all_roots_down_and_up) {
  begin();
  tier_node* deep = child(*site->root);
  grow(*deep, 8, 1);
  child(*site->root, 1);  // a leaf
  ASSERT_TRUE(tree.sum_up(0, *site, 1));
  ASSERT_EQ(tree.cut(*site, 4, soid, everywhere), 3u);
  task_tree::save_cut(*site);
  EXPECT_EQ(task_tree::cut_finer(*site), 2u) << "the leaf has no children, and stays";
  EXPECT_EQ(levels_of_roots(), (std::vector<std::uint32_t>{4, 4, 4, 4, 2}));
  const auto below_root = [](const tier_node& n) { return n.parent != nullptr; };
  EXPECT_EQ(task_tree::cut_coarser(*site, below_root), 4u) << "four children, two parents";
  EXPECT_EQ(levels_of_roots(), (std::vector<std::uint32_t>{3, 3, 2}));
  EXPECT_EQ(task_tree::cut_coarser(*site, below_root), 2u);
  EXPECT_EQ(levels_of_roots(), (std::vector<std::uint32_t>{2, 2}));
  EXPECT_EQ(task_tree::cut_coarser(*site, below_root), 0u);
  task_tree::restore_cut(*site);
  EXPECT_EQ(levels_of_roots(), (std::vector<std::uint32_t>{3, 3, 2}));
  EXPECT_EQ(task_tree::roots(*site), 3u);
}

// A parent of roots at two levels takes all of them in.
TEST_F(task_tree_test, has_no_root_below_another_one) {
  begin();
  tier_node* left = child(*site->root);
  child(*left, 1);
  grow(*child(*left), 4, 2);
  child(*site->root, 1);
  ASSERT_TRUE(tree.sum_up(0, *site, 1));
  ASSERT_EQ(tree.cut(*site, 4, soid, everywhere), 4u);
  task_tree::cut_coarser(*site, [](const tier_node& n) { return n.parent != nullptr; });
  EXPECT_EQ(levels_of_roots(), (std::vector<std::uint32_t>{2, 2}));
  unsigned cuts = 0;
  task_tree::walk(site->root, [&](tier_node& n) { return cuts += n.cut ? 1 : 0, true; });
  EXPECT_EQ(cuts, 2u);
}

TEST_F(task_tree_test, tells_a_program_that_computes) {
  for (const std::uint64_t misses : {1u, 999u, 1001u, 100000u}) {
    begin();
    for (int i = 0; i < 4; ++i) task_tree::leave(*child(*site->root, i == 0 ? 1'000'000 : misses, 1'000'000));
    const soid_profile p = soid_profile::of(0, tree, *site, 0.001);
    EXPECT_TRUE(p.measured);
    EXPECT_EQ(p.cpu_bound, misses < 1000) << "three of four tasks miss " << misses;
    EXPECT_EQ(p.misses_in_a_million, (1'000'000 + 3 * misses) / 4);
    tree.end(*site);
  }
}

// Without counters: what is declared, against the time.
TEST_F(task_tree_test, guesses_at_a_program_that_declares_its_bytes) {
  for (const double bytes : {0.0, 1e6, 1e8}) {
    begin();
    site->root->bytes = bytes;
    site->elapsed = 10'000'000;
    const soid_profile p = soid_profile::guess(*site, 4, 0.001);
    EXPECT_EQ(p.cpu_bound, bytes < 1e7);
    EXPECT_EQ(p.from, bytes > 0 ? source::declared : source::none);
    EXPECT_FALSE(soid_profile::guess(*site, 4, 0).cpu_bound);
    computing_programs programs;
    programs.measured(*site, p);
    EXPECT_FALSE(programs.ended(*site)) << "one iteration of 10 ms is not long enough";
    EXPECT_EQ(programs.ended(*site), p.cpu_bound) << "two are";
    tree.end(*site);
  }
}

// A loop that sets something up computes, the next one does not: that decides.
TEST_F(task_tree_test, judges_a_program_by_all_its_places) {
  soid_profile computes, reads;
  computes.measured = computes.cpu_bound = true;
  computes.misses_in_a_million = 3;
  reads.measured = true;
  tree_site* one = begin();
  tree_site* two = begin(&there);
  computing_programs alone, both;
  alone.measured(*one, computes);
  both.measured(*one, computes);
  for (unsigned i = 1; i < computing_programs::enough; ++i) {
    EXPECT_FALSE(alone.ended(*one));
    EXPECT_FALSE(both.ended(*one));
  }
  both.measured(*two, reads);
  EXPECT_TRUE(alone.ended(*one));
  EXPECT_EQ(alone.misses_in_a_million(*one), 3u);
  EXPECT_FALSE(alone.ended(*one)) << "it is said once";
  EXPECT_FALSE(both.ended(*one));
  EXPECT_FALSE(both.ended(*two));
}

// --- Algorithm 6 -------------------------------------------------------------------------------------------------

// Times of the cuts at levels 0 (one subtree) up to the finest. Returns the level that the search settles at, starting
// from level `from`.
std::size_t settled(const std::vector<std::uint64_t>& times, std::size_t from, const std::vector<int>& noise = {0}) {
  cut_search search(3, 0.01);
  std::size_t now = from, saved = from;
  for (std::size_t i = 0; !search.is_done() && i < 1000; ++i) {
    const auto advice = search.took(times[now] + static_cast<std::uint64_t>(noise[i % noise.size()]));
    if (advice.restore) now = saved;
    if (advice.save) saved = now;
    for (auto next = advice.next; next != cut_search::move::none;) {
      const bool finer = next == cut_search::move::finer;
      if (finer ? now + 1 < times.size() : now > 0) {
        now += finer ? 1 : static_cast<std::size_t>(-1);
        break;
      }
      next = search.cannot();
    }
  }
  EXPECT_TRUE(search.is_done());
  return now;
}

std::size_t best_of(const std::vector<std::uint64_t>& times) {
  return static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
}

TEST(cut_search, finds_what_trying_everything_finds_where_times_fall_and_rise) {
  const std::vector<std::uint64_t> times{900, 700, 500, 400, 450, 600, 1000};
  for (std::size_t from = 0; from < times.size(); ++from) EXPECT_EQ(settled(times, from), best_of(times)) << from;
}

TEST(cut_search, stays_where_nothing_is_better) {
  for (std::size_t from = 0; from < 4; ++from) {
    EXPECT_EQ(settled({1000, 1000, 1000, 1000}, from), from) << "less than the margin is no gain";
    EXPECT_EQ(settled({1000, 995, 992, 995}, from), from);
  }
}

// The first iteration of a partition finds its data in other caches.
TEST(cut_search, does_not_hold_the_way_there_against_a_partition) {
  for (const bool better : {false, true}) {
    cut_search search(2, 0.01, 1);
    EXPECT_EQ(search.took(1500).next, cut_search::move::none);
    EXPECT_EQ(search.took(1000).next, cut_search::move::none);
    EXPECT_EQ(search.took(1000).next, cut_search::move::finer);
    EXPECT_EQ(search.took(1500).next, cut_search::move::none) << "on the way";
    const auto advice = search.took(better ? 900 : 1300);
    EXPECT_EQ(advice.save, better);
    EXPECT_EQ(advice.restore, !better) << "twice in a row clearly longer: undone at once";
    EXPECT_EQ(advice.next, better ? cut_search::move::finer : cut_search::move::coarser);
  }
}

// With the one that measures sizes: eight.
TEST(cut_search, settles_within_seven_iterations_where_a_step_or_none_is_clearly_better) {
  for (const std::vector<std::uint64_t>& times :
       {std::vector<std::uint64_t>{1300, 1000, 1300}, std::vector<std::uint64_t>{2000, 1300, 1000, 1300}}) {
    cut_search search;
    std::size_t now = 1, saved = 1;
    while (!search.is_done()) {
      const auto advice = search.took(times[now]);
      if (advice.restore) now = saved;
      if (advice.save) saved = now;
      if (advice.next == cut_search::move::finer) ++now;
      if (advice.next == cut_search::move::coarser) --now;
    }
    EXPECT_EQ(now, best_of(times));
    EXPECT_LE(search.iterations(), 7u);
  }
}

// Every third iteration is disturbed by more than a step gains: the shortest time of each partition decides.
TEST(cut_search, is_not_misled_by_a_slow_iteration) {
  const std::vector<std::uint64_t> times{900, 700, 500, 400, 450, 600, 1000};
  for (std::size_t shift = 0; shift < 3; ++shift) {
    std::vector<int> noise{0, 0, 0};
    noise[shift] = 400;
    for (std::size_t from = 0; from < times.size(); ++from) EXPECT_EQ(settled(times, from, noise), best_of(times));
  }
}

}  // namespace
}  // namespace task_tree_test

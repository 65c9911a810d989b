// The record of who stole what, which constrained work stealing replays.
#include <gtest/gtest.h>

#include "policy/iterations/steal_tree.hpp"

namespace steal_tree_test {
namespace {

using heddle::policy::child_identity;
using heddle::policy::steal_node;
using heddle::policy::steal_nodes;
using heddle::policy::steal_tree;

steal_node* add(steal_nodes& nodes, steal_node*& own, steal_node* parent, std::uint32_t n, unsigned worker,
                unsigned order = 0) {
  steal_node* made = nodes.take(own);
  made->id = parent == nullptr ? heddle::policy::root_identity : child_identity(parent->id, n);
  made->parent = parent;
  made->first_child = nullptr;
  made->sibling = parent == nullptr ? nullptr : parent->first_child;
  made->worker = worker;
  made->order = order;
  made->inner.store(parent == nullptr);
  if (parent != nullptr) parent->first_child = made;
  return made;
}

TEST(steal_tree, names_pieces_their_ancestors_and_those_ones_children) {
  steal_nodes nodes;
  steal_node* own = nullptr;
  steal_node* root = add(nodes, own, nullptr, 0, 2);
  steal_node* here = add(nodes, own, root, 0, 2);
  steal_node* there = add(nodes, own, root, 1, 3, 7);
  steal_node* below = add(nodes, own, there, 0, 1, 4);
  below->parent->keep();
  const std::uint64_t ids[] = {here->id, there->id, below->id};
  steal_tree tree;
  nodes.give_back(tree.build(*root, 4));
  EXPECT_EQ(tree.size(), 3u);
  EXPECT_EQ(tree.pieces(), 2u);
  EXPECT_EQ(tree.root_worker(), 2u);
  EXPECT_EQ(tree.pieces_of(3), 1u);
  EXPECT_EQ(tree.pieces_of(2), 0u);
  ASSERT_NE(tree.find(ids[0]), nullptr);
  EXPECT_FALSE(tree.find(ids[0])->piece);
  EXPECT_FALSE(tree.find(ids[0])->inner);
  EXPECT_TRUE(tree.find(ids[1])->piece);
  EXPECT_TRUE(tree.find(ids[1])->inner);
  EXPECT_EQ(tree.find(ids[1])->order, 7u);
  EXPECT_EQ(tree.find(ids[2])->worker, 1u);
  EXPECT_EQ(tree.find(child_identity(ids[2], 0)), nullptr);
  EXPECT_EQ(tree.shared_with(tree), 2u);
}

TEST(steal_tree, identities_differ) {
  std::set<std::uint64_t> seen;
  std::vector<std::uint64_t> level{heddle::policy::root_identity};
  for (int depth = 0; depth < 4; ++depth) {
    std::vector<std::uint64_t> next;
    for (const std::uint64_t id : level) {
      for (std::uint32_t n = 0; n < 20; ++n) next.push_back(child_identity(id, n));
    }
    for (const std::uint64_t id : next) EXPECT_TRUE(seen.insert(id).second && id != 0);
    level = next;
  }
}

}  // namespace
}  // namespace steal_tree_test

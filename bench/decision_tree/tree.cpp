#include "tree.hpp"

#include "../harness/random.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace heddle::bench::decision_tree {

tree::tree(std::vector<tree_node> const& unordered) {
  if (unordered.empty()) return;
  struct pending {
    std::uint32_t from;
    std::uint32_t parent;
    bool is_right;
  };
  nodes_.reserve(unordered.size());
  std::vector<pending> stack{{0, 0, false}};
  while (!stack.empty()) {
    pending const next = stack.back();
    stack.pop_back();
    auto const index = static_cast<std::uint32_t>(nodes_.size());
    tree_node const& node = unordered[next.from];
    nodes_.push_back(node);
    if (index != 0) (next.is_right ? nodes_[next.parent].right : nodes_[next.parent].left) = index;
    if (!node.leaf()) {
      stack.push_back({node.right, index, true});
      stack.push_back({node.left, index, false});
    }
  }
}

unsigned tree::depth() const {
  unsigned deepest = 0;
  std::vector<unsigned> level(nodes_.size(), 0);  // preorder: a parent stands before its children
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    deepest = std::max(deepest, level[i]);
    if (nodes_[i].leaf()) continue;
    level[nodes_[i].left] = level[i] + 1;
    level[nodes_[i].right] = level[i] + 1;
  }
  return deepest;
}

std::uint64_t tree::hash() const {
  digest sum;
  for (tree_node const& node : nodes_) {
    sum.add(std::bit_cast<std::uint32_t>(node.threshold) | std::uint64_t{node.feature} << 32);
    sum.add(node.left | std::uint64_t{node.right} << 32);
    sum.add(node.rows | std::uint64_t{node.positives} << 32);
  }
  return sum.value();
}

std::uint8_t tree::predict(dataset const& data, std::size_t row) const {
  tree_node const* node = nodes_.data();
  while (!node->leaf()) node = &nodes_[data.columns[node->feature][row] <= node->threshold ? node->left : node->right];
  return node->majority();
}

double tree::accuracy(dataset const& data) const {
  std::size_t right = 0;
  for (std::size_t row = 0; row < data.rows(); ++row) right += predict(data, row) == data.labels[row];
  return static_cast<double>(right) / static_cast<double>(data.rows());
}

double majority_rate(dataset const& data) {
  auto const ones = static_cast<std::size_t>(std::count(data.labels.begin(), data.labels.end(), std::uint8_t{1}));
  return static_cast<double>(std::max(ones, data.rows() - ones)) / static_cast<double>(data.rows());
}

}  // namespace heddle::bench::decision_tree

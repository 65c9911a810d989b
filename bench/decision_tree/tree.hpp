// A trained tree for two classes.
#pragma once

#include "dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::bench::decision_tree {

struct tree_node {
  float threshold = 0;  // rows with value <= threshold go left
  std::uint32_t feature = 0;
  std::uint32_t left = 0;  // 0 in a leaf: the root is nobody's child
  std::uint32_t right = 0;
  std::uint32_t rows = 0;       // training rows that arrived here
  std::uint32_t positives = 0;  // those of class 1

  [[nodiscard]] bool leaf() const { return left == 0; }
  [[nodiscard]] std::uint8_t majority() const { return 2 * std::uint64_t{positives} > rows ? 1 : 0; }
};

class tree {
 public:
  tree() = default;

  // Renumbers in preorder, left before right, so that equal trees have equal nodes whatever order they were made in.
  explicit tree(std::vector<tree_node> const& unordered);

  [[nodiscard]] std::vector<tree_node> const& nodes() const { return nodes_; }
  [[nodiscard]] unsigned depth() const;

  // Over everything in the nodes.
  [[nodiscard]] std::uint64_t hash() const;

  [[nodiscard]] std::uint8_t predict(dataset const& data, std::size_t row) const;

  // Share of the rows whose class is predicted.
  [[nodiscard]] double accuracy(dataset const& data) const;

 private:
  std::vector<tree_node> nodes_;
};

// Share of the rows that have the more frequent class: what a tree must beat.
[[nodiscard]] double majority_rate(dataset const& data);

}  // namespace heddle::bench::decision_tree

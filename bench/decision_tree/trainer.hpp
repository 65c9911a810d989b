// Construction of a decision tree (CART, two classes, Gini impurity, histograms) on any runtime.
//
// Source: the decision tree of the ADWS thesis, sections 5.2.3 and 5.5.1 (docs/papers.md): two-way divide and conquer
// like quicksort, rows moved between two buffers, at each node consecutive parallel loops over the same rows, and the
// two sides built in parallel; cutoffs in bytes of rows, 64 KB for the recursion and 256 KB for loops and partition.
// The differences, and their reasons, are in README.md.
//
// The tree does not depend on the executor, the number of workers or the schedule: counts are integers, the best cut
// among equals is the first by feature and bin, and rows keep their order.
#pragma once

#include "binning.hpp"
#include "dataset.hpp"
#include "executor.hpp"
#include "histogram.hpp"
#include "partition.hpp"
#include "pool.hpp"
#include "tree.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace heddle::bench::decision_tree {

struct training_options {
  unsigned depth = 17;
  std::uint32_t min_leaf = 20;
  std::size_t bins = most_bins;
  std::size_t recursion_cutoff = 64 * 1024;  // bytes of rows: below, a subtree is one task
  std::size_t loop_cutoff = 256 * 1024;      // bytes of rows: a loop's chunk
};

struct training_result {
  tree trained;
  double bin_seconds = 0;    // raw values to rows of bins
  double build_seconds = 0;  // rows of bins to the tree
};

template <executor Executor>
class trainer {
 public:
  // Keeps references. Memory is taken here, so that training again measures only training. Throws std::length_error for
  // 2^31 rows or more, and std::bad_alloc.
  trainer(Executor& run, dataset const& data, training_options options)
      : run_(run),
        data_(data),
        options_(options),
        layout_(data.features()),
        cells_(cell_count(layout_)),
        small_rows_(std::clamp<std::size_t>(options.recursion_cutoff / layout_.stride, 1, narrow_rows)),
        chunk_rows_(std::clamp<std::size_t>(options.loop_cutoff / layout_.stride, 1, narrow_rows)),
        wide_(cells_),
        narrow_(cells_) {
    if (data.rows() >= most_rows) throw std::length_error("2^31 rows or more");
    // A leaf has at least min_leaf rows, except a root that is one.
    std::size_t const by_rows = 2 * (data.rows() / std::max(options.min_leaf, 1u)) + 1;
    std::size_t const by_depth = (std::size_t{2} << std::min(options.depth, 32u)) - 1;
    nodes_.resize(std::min(by_rows, by_depth));
    for (auto& buffer : buffers_)
      buffer = std::make_unique_for_overwrite<line[]>(data.rows() * layout_.stride / sizeof(line) + 1);
  }

  // Each call trains the same tree anew. It must not be called from inside the executor.
  training_result train() {
    training_result result;
    used_nodes_ = 1;
    run_.run([&] {
      auto const begin = std::chrono::steady_clock::now();
      cuts_ = find_all_cuts(run_, data_, options_.bins);
      bin_rows(run_, data_, cuts_, layout_, rows_of(0), chunk_rows_);
      auto const binned = std::chrono::steady_clock::now();
      build_root();
      auto const end = std::chrono::steady_clock::now();
      result.bin_seconds = std::chrono::duration<double>(binned - begin).count();
      result.build_seconds = std::chrono::duration<double>(end - binned).count();
    });
    result.trained = tree({nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(used_nodes_)});
    return result;
  }

 private:
  struct alignas(64) line {
    std::uint8_t bytes[64];
  };

  using wide_loan = typename array_pool<wide_cell>::loan;
  using narrow_loan = typename array_pool<narrow_cell>::loan;

  // Rows of a node in the buffer where they are, and the same place in the other.
  struct row_range {
    std::uint8_t* rows;
    std::uint8_t* spare;
    std::size_t count;
  };

  // One side of a cut, ready to be built: `cut` with score 0 makes it a leaf.
  template <class Loan>
  struct side {
    std::uint32_t node = 0;
    row_counts counts;
    split cut;
    Loan cells;
  };
  template <class Loan>
  struct sides {
    side<Loan> left, right;
    bool left_splits, right_splits;  // further, if there is a cut that is worth it
  };

  [[nodiscard]] std::uint8_t* rows_of(std::size_t buffer) { return buffers_[buffer][0].bytes; }
  [[nodiscard]] std::size_t chunks_of(std::size_t rows) const {
    return Executor::serial ? 1 : (rows + chunk_rows_ - 1) / chunk_rows_;
  }
  [[nodiscard]] bool may_split(row_counts node, unsigned depth) const {
    return depth < options_.depth && !node.pure() && node.rows >= 2 * std::max(options_.min_leaf, 1u);
  }

  // Over the features [first, last).
  template <class Loan>
  [[nodiscard]] split best_cut(side<Loan> const& of, std::size_t first, std::size_t last) const {
    return best_split(of.cells.get(), first, last, of.counts, options_.min_leaf);
  }

  // f(chunk, first row, one past its last row), chunks of equal size.
  template <class F>
  void for_chunks(std::size_t rows, std::size_t chunks, F&& f) {
    auto const range = [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) f(i, rows * i / chunks, rows * (i + 1) / chunks);
    };
    if (chunks == 1) {
      range(0, 1);
    } else {
      run_.parallel_for(0, chunks, 1, range);
    }
  }

  // Calls f(feature) for all features. Each call takes a few microseconds, so small nodes do not fork for it.
  template <class F>
  void for_features(std::size_t rows, F&& f) {
    auto const range = [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) f(i);
    };
    if (chunks_of(rows) == 1) {
      range(0, layout_.features);
    } else {
      run_.parallel_for(0, layout_.features, features_grain, range);
    }
  }

  // The histogram of rows in parts: exact sums in any order.
  std::vector<narrow_loan> count_rows(std::uint8_t const* rows, std::size_t count) {
    // Parts of a serial run are as large as a narrow cell allows.
    std::size_t const chunks = Executor::serial ? count / narrow_rows + 1 : chunks_of(count);
    std::vector<narrow_loan> parts(chunks);
    for_chunks(count, chunks, [&](std::size_t chunk, std::size_t first, std::size_t last) {
      narrow_loan part = narrow_.lend();
      std::fill_n(part.get(), cells_, narrow_cell{0});
      accumulate(layout_, rows + first * layout_.stride, last - first, part.get());
      parts[chunk] = std::move(part);
    });
    return parts;
  }

  static void sum_parts(std::vector<narrow_loan> const& parts, std::size_t feature, wide_cell* cells) {
    std::fill_n(cells, most_bins, wide_cell{0});
    for (auto const& part : parts) add(cells, part.get() + feature * most_bins, most_bins);
  }

  [[nodiscard]] static split first_best(std::vector<split> const& by_feature) {
    split best;
    for (split const& one : by_feature) {
      if (one.score > best.score) best = one;
    }
    return best;
  }

  void build_root() {
    auto const positives =
        static_cast<std::uint32_t>(std::count(data_.labels.begin(), data_.labels.end(), std::uint8_t{1}));
    side<wide_loan> root{0, {static_cast<std::uint32_t>(data_.rows()), positives}, {}, {}};
    row_range const all{rows_of(0), rows_of(1), data_.rows()};
    set_counts(root.node, root.counts);
    if (!may_split(root.counts, 0)) return;
    root.cells = wide_.lend();
    std::vector<narrow_loan> const parts = count_rows(all.rows, all.count);
    std::vector<split> best(layout_.features);
    for_features(all.count, [&](std::size_t feature) {
      sum_parts(parts, feature, root.cells.get() + feature * most_bins);
      best[feature] = best_cut(root, feature, feature + 1);
    });
    root.cut = first_best(best);
    build(all, std::move(root), 0);
  }

  void set_counts(std::uint32_t node, row_counts counts) {
    nodes_[node] = {};
    nodes_[node].rows = counts.rows;
    nodes_[node].positives = counts.positives;
  }

  // Writes the cut into its node and makes the two children.
  template <class Loan>
  sides<Loan> cut_node(side<Loan> const& node, unsigned depth) {
    std::uint32_t const left = used_nodes_.fetch_add(2);
    sides<Loan> made{{left, node.cut.left, {}, {}}, {left + 1, node.counts - node.cut.left, {}, {}}, false, false};
    nodes_[node.node].feature = node.cut.feature;
    nodes_[node.node].threshold = cuts_[node.cut.feature][node.cut.bin];
    nodes_[node.node].left = left;
    nodes_[node.node].right = left + 1;
    set_counts(left, made.left.counts);
    set_counts(left + 1, made.right.counts);
    made.left_splits = may_split(made.left.counts, depth + 1);
    made.right_splits = may_split(made.right.counts, depth + 1);
    return made;
  }

  // Only the smaller side is counted, in cells lent for that. The larger side is the difference, in the node's own
  // cells.
  template <class Loan>
  struct counted_side {
    side<Loan>& smaller;
    side<Loan>& larger;
    row_range const& rows;  // of the smaller
  };
  template <class Loan>
  counted_side<Loan> share_cells(sides<Loan>& both, row_range const& left, row_range const& right, Loan lent,
                                 side<Loan>& node) {
    bool const left_smaller = left.count < right.count;
    counted_side<Loan> const shared{left_smaller ? both.left : both.right, left_smaller ? both.right : both.left,
                                    left_smaller ? left : right};
    shared.smaller.cells = std::move(lent);
    shared.larger.cells = std::move(node.cells);
    return shared;
  }

  void build(row_range range, side<wide_loan> node, unsigned depth) {
    if (node.cut.score == 0) return;
    if (range.count <= small_rows_) {
      narrow_loan cells = narrow_.lend();
      narrow(cells.get(), node.cells.get(), cells_);
      node.cells = {};
      build_small(range, {node.node, node.counts, node.cut, std::move(cells)}, depth);
      return;
    }
    sides<wide_loan> both = cut_node(node, depth);
    auto const [left_range, right_range] = divide(range, node.cut);
    if (!both.left_splits && !both.right_splits) return;
    {
      auto const [smaller, larger, counted] = share_cells(both, left_range, right_range, wide_.lend(), node);
      std::vector<narrow_loan> const parts = count_rows(counted.rows, counted.count);
      std::vector<split> left_best(layout_.features);
      std::vector<split> right_best(layout_.features);
      auto* const counts = smaller.cells.get();
      auto* const differences = larger.cells.get();
      for_features(range.count, [&, counts, differences](std::size_t feature) {
        std::size_t const at = feature * most_bins;
        sum_parts(parts, feature, counts + at);
        subtract(differences + at, counts + at, most_bins);
        if (both.left_splits) left_best[feature] = best_cut(both.left, feature, feature + 1);
        if (both.right_splits) right_best[feature] = best_cut(both.right, feature, feature + 1);
      });
      both.left.cut = first_best(left_best);
      both.right.cut = first_best(right_best);
    }
    fork_hint const hint{static_cast<double>(left_range.count), static_cast<double>(right_range.count),
                         2 * range.count * layout_.stride};
    run_.invoke([&, range = left_range] { build(range, std::move(both.left), depth + 1); },
                [&, range = right_range] { build(range, std::move(both.right), depth + 1); }, hint);
  }

  // The rows of both sides, in the other buffer.
  std::pair<row_range, row_range> divide(row_range range, split const& cut) {
    std::size_t const stride = layout_.stride;
    std::size_t const chunks = chunks_of(range.count);
    std::uint8_t* const left = range.spare;
    std::uint8_t* const right = range.spare + cut.left.rows * stride;
    if (chunks == 1) {
      scatter(layout_, range.rows, range.count, cut, left, right);
    } else {
      std::vector<std::size_t> before(chunks + 1, 0);  // rows gone left before each chunk
      for_chunks(range.count, chunks, [&](std::size_t chunk, std::size_t first, std::size_t last) {
        before[chunk + 1] = count_left(layout_, range.rows + first * stride, last - first, cut);
      });
      for (std::size_t chunk = 0; chunk < chunks; ++chunk) before[chunk + 1] += before[chunk];
      for_chunks(range.count, chunks, [&](std::size_t chunk, std::size_t first, std::size_t last) {
        scatter(layout_, range.rows + first * stride, last - first, cut, left + before[chunk] * stride,
                right + (first - before[chunk]) * stride);
      });
    }
    return halves(range, cut);
  }

  [[nodiscard]] std::pair<row_range, row_range> halves(row_range range, split const& cut) const {
    std::size_t const bytes = cut.left.rows * layout_.stride;
    return {{range.spare, range.rows, cut.left.rows},
            {range.spare + bytes, range.rows + bytes, range.count - cut.left.rows}};
  }

  // Builds a subtree whose rows fit the cache of one core: one task, narrow cells.
  void build_small(row_range range, side<narrow_loan> node, unsigned depth) {
    if (node.cut.score == 0) return;
    sides<narrow_loan> both = cut_node(node, depth);
    if (!both.left_splits && !both.right_splits) return;  // the rows need not move

    auto const [left_range, right_range] = halves(range, node.cut);
    scatter(layout_, range.rows, range.count, node.cut, left_range.rows, right_range.rows);
    auto const [smaller, larger, counted] = share_cells(both, left_range, right_range, narrow_.lend(), node);
    std::fill_n(smaller.cells.get(), cells_, narrow_cell{0});
    accumulate(layout_, counted.rows, counted.count, smaller.cells.get());
    subtract(larger.cells.get(), smaller.cells.get(), cells_);
    if (both.left_splits) both.left.cut = best_cut(both.left, 0, layout_.features);
    if (both.right_splits) both.right.cut = best_cut(both.right, 0, layout_.features);
    build_small(left_range, std::move(both.left), depth + 1);
    build_small(right_range, std::move(both.right), depth + 1);
  }

  static constexpr std::size_t features_grain = 4;

  Executor& run_;
  dataset const& data_;
  training_options const options_;
  row_layout const layout_;
  std::size_t const cells_;
  std::size_t const small_rows_;
  std::size_t const chunk_rows_;
  array_pool<wide_cell> wide_;
  array_pool<narrow_cell> narrow_;
  std::array<std::unique_ptr<line[]>, 2> buffers_;
  std::vector<feature_cuts> cuts_;
  std::vector<tree_node> nodes_;  // a node is written by the one branch that builds it
  std::atomic<std::uint32_t> used_nodes_{0};
};

}  // namespace heddle::bench::decision_tree

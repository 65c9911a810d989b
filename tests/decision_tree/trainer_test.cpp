#include "bench/decision_tree/trainer.hpp"

#include "bench/decision_tree/generator.hpp"
#include "bench/decision_tree/tsv.hpp"
#include "decision_tree/executors.hpp"

#if defined(HEDDLE_TREE_TBB)
#include "bench/decision_tree/tbb_executor.hpp"
#endif

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define HEDDLE_TEST_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEDDLE_TEST_THREAD_SANITIZER 1
#endif
#endif

namespace heddle::bench::decision_tree {
namespace trainer_test {
namespace {

dataset generated(std::size_t rows, std::uint64_t seed = 1) {
  dataset data;
  data.resize(rows, generated_features);
  generate_rows(seed, 0, rows, data);
  return data;
}

// Rows (label, features...).
dataset rows_of(std::vector<std::vector<float>> const& rows) {
  dataset data;
  data.resize(rows.size(), rows[0].size() - 1);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    data.labels[row] = static_cast<std::uint8_t>(rows[row][0]);
    for (std::size_t feature = 0; feature < data.features(); ++feature)
      data.columns[feature][row] = rows[row][feature + 1];
  }
  return data;
}

tree train_serial(dataset const& data, training_options const& options = {}) {
  serial_executor run;
  return trainer(run, data, options).train().trained;
}

training_options with(unsigned depth, std::uint32_t min_leaf) {
  training_options options;
  options.depth = depth;
  options.min_leaf = min_leaf;
  return options;
}

// Cutoffs so small that few rows exercise every parallel form.
training_options fine(std::uint32_t min_leaf = 20) {
  training_options options = with(17, min_leaf);
  options.recursion_cutoff = 2048;
  options.loop_cutoff = 8192;
  return options;
}

// CART as the textbook has it: at every node count everything anew.
class reference {
 public:
  reference(dataset const& data, training_options const& options)
      : data_(data), options_(options), layout_(data.features()), rows_(data.rows() * layout_.stride) {
    serial_executor run;
    cuts_ = find_all_cuts(run, data, options.bins);
    bin_rows(run, data, cuts_, layout_, rows_.data(), data.rows());
    std::vector<std::size_t> all(data.rows());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    grow(all, 0);
  }
  [[nodiscard]] tree made() const { return tree(nodes_); }

 private:
  [[nodiscard]] std::uint8_t bin(std::size_t row, std::size_t feature) const {
    return rows_[row * layout_.stride + feature];
  }

  template <class Score>
  static double score_of(row_counts node, row_counts left) {
    auto const n = static_cast<Score>(left.rows);
    Score const gain =
        static_cast<Score>(left.positives) * static_cast<Score>(node.rows) - static_cast<Score>(node.positives) * n;
    return gain * gain / (n * (static_cast<Score>(node.rows) - n));
  }

  std::uint32_t grow(std::vector<std::size_t> const& rows, unsigned depth) {
    auto const index = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
    row_counts all{static_cast<std::uint32_t>(rows.size()), 0};
    for (std::size_t row : rows) all.positives += data_.labels[row];
    nodes_[index].rows = all.rows;
    nodes_[index].positives = all.positives;
    if (depth == options_.depth || all.pure()) return index;
    split best;
    for (std::size_t feature = 0; feature < data_.features(); ++feature) {
      std::vector<row_counts> bins(most_bins);
      for (std::size_t row : rows) {
        ++bins[bin(row, feature)].rows;
        bins[bin(row, feature)].positives += data_.labels[row];
      }
      row_counts left;
      for (std::uint32_t at = 0; at < most_bins; ++at) {
        left.rows += bins[at].rows;
        left.positives += bins[at].positives;
        if (left.rows < options_.min_leaf || all.rows - left.rows < options_.min_leaf) continue;
        double const score = all.rows <= single_rows ? score_of<float>(all, left) : score_of<double>(all, left);
        if (score > best.score) best = {score, static_cast<std::uint32_t>(feature), at, left};
      }
    }
    if (best.score == 0) return index;
    std::vector<std::size_t> left;
    std::vector<std::size_t> right;
    for (std::size_t row : rows) (bin(row, best.feature) <= best.bin ? left : right).push_back(row);
    nodes_[index].feature = best.feature;
    nodes_[index].threshold = cuts_[best.feature][best.bin];
    std::uint32_t const left_node = grow(left, depth + 1);
    std::uint32_t const right_node = grow(right, depth + 1);
    nodes_[index].left = left_node;
    nodes_[index].right = right_node;
    return index;
  }

  dataset const& data_;
  training_options options_;
  row_layout layout_;
  std::vector<std::uint8_t> rows_;
  std::vector<feature_cuts> cuts_;
  std::vector<tree_node> nodes_;
};

TEST(tree, is_one_cut_where_one_cut_suffices) {
  dataset const data = rows_of({{0, 5, 1}, {0, 6, 2}, {0, 4, 3}, {1, 5, 4}, {1, 6, 5}, {1, 4, 6}});
  tree const made = train_serial(data, with(17, 1));
  ASSERT_EQ(made.nodes().size(), 3u);
  EXPECT_EQ(made.nodes()[0].feature, 1u);
  EXPECT_EQ(made.nodes()[0].threshold, 3.5f);
  EXPECT_EQ(made.nodes()[made.nodes()[0].left].positives, 0u);
  EXPECT_EQ(made.nodes()[made.nodes()[0].right].positives, 3u);
  EXPECT_EQ(made.accuracy(data), 1.0);
  EXPECT_EQ(majority_rate(data), 0.5);
}

TEST(tree, learns_exclusive_or_in_two_levels) {
  // (0, 1) stands twice: with all four alike no single cut would gain anything.
  dataset const data = rows_of({{0, 0, 0}, {1, 0, 1}, {1, 0, 1}, {1, 1, 0}, {0, 1, 1}});
  tree const made = train_serial(data, with(17, 1));
  EXPECT_EQ(made.depth(), 2u);
  EXPECT_EQ(made.nodes().size(), 7u);
  EXPECT_EQ(made.accuracy(data), 1.0);
  dataset const even = rows_of({{0, 0, 0}, {1, 0, 1}, {1, 1, 0}, {0, 1, 1}});
  EXPECT_EQ(train_serial(even, with(17, 1)).nodes().size(), 1u);
}

TEST(tree, keeps_to_depth_and_leaf_size) {
  dataset const data = generated(20000);
  for (unsigned depth : {1u, 2u, 5u}) EXPECT_EQ(train_serial(data, with(depth, 1)).depth(), depth);
  for (std::uint32_t min_leaf : {1u, 20u, 500u}) {
    tree const made = train_serial(data, with(17, min_leaf));
    for (tree_node const& node : made.nodes()) EXPECT_GE(node.rows, min_leaf);
  }
  EXPECT_EQ(train_serial(data, with(17, 10001)).nodes().size(), 1u);
}

TEST(tree, accounts_for_every_row) {
  dataset const data = generated(5000);
  tree const made = train_serial(data);
  auto const& nodes = made.nodes();
  EXPECT_EQ(nodes[0].rows, 5000u);
  for (tree_node const& node : nodes) {
    if (node.leaf()) continue;
    EXPECT_EQ(nodes[node.left].rows + nodes[node.right].rows, node.rows);
    EXPECT_EQ(nodes[node.left].positives + nodes[node.right].positives, node.positives);
  }
  // The counts of the training rows agree with the predictions from raw values.
  std::size_t right = 0;
  for (tree_node const& node : nodes) right += node.leaf() ? std::max(node.positives, node.rows - node.positives) : 0;
  EXPECT_EQ(made.accuracy(data), static_cast<double>(right) / 5000);
}

TEST(tree, equals_that_of_the_textbook) {
  for (std::size_t rows : {100u, 3000u, 12000u}) {
    for (std::uint32_t min_leaf : {1u, 20u}) {
      dataset const data = generated(rows, rows);
      std::uint64_t const expected = reference(data, with(17, min_leaf)).made().hash();
      EXPECT_EQ(train_serial(data, with(17, min_leaf)).hash(), expected);
      EXPECT_EQ(train_serial(data, fine(min_leaf)).hash(), expected);
    }
  }
}

TEST(tree, equals_that_of_the_textbook_with_other_widths) {
  for (std::size_t features : {1u, 7u, 15u, 16u, 27u}) {
    dataset data = generated(4000);
    data.columns.resize(features);
    EXPECT_EQ(train_serial(data).hash(), reference(data, {}).made().hash()) << features;
  }
  dataset wide = generated(3000);
  dataset const more = generated(3000, 2);
  wide.columns.insert(wide.columns.end(), more.columns.begin(), more.columns.end());
  EXPECT_EQ(train_serial(wide).hash(), reference(wide, {}).made().hash());
}

// More rows than a narrow cell counts.
TEST(tree, is_right_beyond_narrow_cells) {
  dataset const data = generated(150'000);
  training_options options = with(4, 20);
  std::uint64_t const expected = reference(data, options).made().hash();
  EXPECT_EQ(train_serial(data, options).hash(), expected);
  options.recursion_cutoff = options.loop_cutoff = std::size_t{1} << 40;
  EXPECT_EQ(train_serial(data, options).hash(), expected);
  backward_executor run;
  EXPECT_EQ(trainer(run, data, options).train().trained.hash(), expected);
}

TEST(tree, is_a_majority_leaf_for_one_class) {
  dataset data = generated(100);
  std::fill(data.labels.begin(), data.labels.end(), std::uint8_t{1});
  tree const made = train_serial(data);
  ASSERT_EQ(made.nodes().size(), 1u);
  EXPECT_EQ(made.predict(data, 0), 1);
}

TEST(training, does_not_depend_on_the_schedule) {
  dataset const data = generated(20000);
  std::uint64_t const expected = train_serial(data).hash();
  backward_executor backward;
  EXPECT_EQ(trainer(backward, data, {}).train().trained.hash(), expected);
  EXPECT_EQ(trainer(backward, data, fine()).train().trained.hash(), expected);
  thread_executor threads;
  trainer again(threads, data, training_options{});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(again.train().trained.hash(), expected);
  EXPECT_EQ(trainer(threads, data, fine()).train().trained.hash(), expected);
}

#if defined(HEDDLE_TREE_TBB) && !defined(HEDDLE_TEST_THREAD_SANITIZER)  // TBB itself is not instrumented
TEST(training, makes_the_serial_tree_on_tbb) {
  dataset const data = generated(20000);
  std::uint64_t const expected = train_serial(data).hash();
  for (unsigned workers : {1u, 2u, 6u}) {
    tbb_executor run(workers);
    EXPECT_EQ(run.workers(), workers);
    trainer many(run, data, fine());
    for (int i = 0; i < 5; ++i) EXPECT_EQ(many.train().trained.hash(), expected) << workers;
    EXPECT_EQ(trainer(run, data, {}).train().trained.hash(), expected) << workers;
  }
}
#endif

TEST(training, learns_from_generated_rows) {
  dataset all = generated(60000);
  training_data const data = hold_out_last_tenth(std::move(all), "generated");
  double const accuracy = train_serial(data.train).accuracy(data.test);
  EXPECT_GT(accuracy, 0.68);
  EXPECT_LT(accuracy, 0.92);  // part of the labels is noise
  EXPECT_GT(accuracy, majority_rate(data.test) + 0.08);
}

TEST(training, learns_from_higgs) {
  std::filesystem::path const folder = std::filesystem::path(HEDDLE_SOURCE_DIR) / ".." / "shared" / "data";
  std::filesystem::path const rows = folder / "higgs_sample.train.tsv";
  std::filesystem::path const held_out = folder / "higgs_sample.test.tsv";
  if (!std::filesystem::exists(rows) || !std::filesystem::exists(held_out)) GTEST_SKIP() << "no " << rows;
  training_data const data = read_training_data(rows.string(), held_out.string());
  EXPECT_EQ(data.train.features(), 28u);
  tree const made = train_serial(data.train);
  EXPECT_GT(made.accuracy(data.test), majority_rate(data.test) + 0.1);
  EXPECT_GT(made.accuracy(data.test), 0.65);
  EXPECT_EQ(made.hash(), reference(data.train, {}).made().hash());
  thread_executor threads;
  EXPECT_EQ(trainer(threads, data.train, fine()).train().trained.hash(), made.hash());
}

}  // namespace
}  // namespace trainer_test
}  // namespace heddle::bench::decision_tree

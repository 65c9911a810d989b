// Recursion over the rows of a grid, down to leaves of a given number of rows: the trees of the memory-bound benchmarks
// of Chen and Guo, "Task Scheduling for Multi-core and Parallel Architectures", sections 3.8 and 4.10.
//   regular    each task that is no leaf has two children, of half of its rows each
//   irregular  algorithm 3 there: a task is of one of two kinds. `heat` has two children, the first of the kind
//   `heat2`; `heat2` has four, the third of its own kind. All others are `heat`.
// Rows that cannot be divided are spread over the children (in the book the last child has them all), and a child
// without rows is not made. Children are one group: a policy sees the bytes and the number of all, and the index and
// the work of each.
#pragma once

#include <cstddef>

#include "backend/common.hpp"

namespace heddle::bench {

enum class rows_tree { regular, irregular };
inline constexpr const char* rows_tree_name(rows_tree t) { return t == rows_tree::regular ? "regular" : "irregular"; }

// The facts that all tasks of a tree have in common.
struct rows_plan {
  rows_tree tree = rows_tree::regular;
  std::size_t leaf = 8;   // rows, at most; at least 1
  double work_a_row = 1;  // in points
  std::size_t bytes_a_row = 0;
};

// leaf(first, last) on parts of the rows [first, last). The caller's task is of the kind with four children if
// `in_four`.
template <class Backend, class Leaf>
void rows_task(const rows_plan& plan, bool in_four, std::size_t first, std::size_t last, const Leaf& leaf) {
  const std::size_t rows = last - first, parts = in_four ? 4 : 2;
  if (rows <= plan.leaf) {
    if (rows != 0) leaf(first, last);
    return;
  }
  struct child {
    std::size_t first, last;
    bool in_four;
  } all[4];
  double work[4];
  int count = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    const child c{first + rows * i / parts, first + rows * (i + 1) / parts,
                  plan.tree == rows_tree::irregular && i == (in_four ? 2 : 0)};
    if (c.first == c.last) continue;
    work[count] = static_cast<double>(c.last - c.first) * plan.work_a_row;
    all[count++] = c;
  }
  children<Backend>(count, work, rows * plan.bytes_a_row, [&plan, &leaf, &all](int i) {
    rows_task<Backend>(plan, all[i].in_four, all[i].first, all[i].last, leaf);
  });
}

template <class Backend, class Leaf>
void rows_all(const rows_plan& plan, std::size_t first, std::size_t last, const Leaf& leaf) {
  rows_task<Backend>(plan, false, first, last, leaf);
}

}  // namespace heddle::bench

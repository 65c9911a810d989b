// Rows of several arrays side by side: what is touched, and how lines overlap.
#include <gtest/gtest.h>

#include "sim/flat_machine.hpp"
#include "sim/memory_model.hpp"

namespace heddle::sim {
namespace rows_test {
namespace {

using machine::group_kind;
using row_set = memory_model::row_set;

constexpr std::uint64_t kB = 1024, MB = 1024 * kB;

machine::model two_nodes(unsigned overlap) {
  const cache_form forms[] = {{group_kind::l1, 4 * kB, 4}, {group_kind::l2, 256 * kB, 8}};
  machine::model m = bare_machine("pack:2 [numa] l2:2 l1:1 pu:1", forms);
  m.caches = {{group_kind::l1, 1}, {group_kind::l2, 5}};
  m.nodes = {{0, 100, 0, 4}, {1, 100, 0, 4}};
  m.links = {{0, 1, 60, 0}, {1, 0, 60, 0}};
  m.overlap = overlap;
  return m;
}

TEST(rows, touch_what_single_accesses_touch) {
  memory_model rows(two_nodes(4)), single(two_nodes(4));
  const row_set sets[] = {{0, 256, 1 * kB, false}, {MB + 60, 8, 512, true}};
  rows.access_rows(1, sets, 20, 0);
  for (std::uint64_t row = 0; row < 20; ++row) {
    single.access(1, row * kB, 256, false, 0);
    single.access(1, MB + 60 + row * 512, 8, true, 0);
  }
  const auto a = rows.levels(), b = single.levels();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].accesses, b[i].accesses);
    EXPECT_EQ(a[i].misses, b[i].misses);
  }
  EXPECT_EQ(a[0].accesses, 20u * (4 + 2));
}

TEST(rows, overlap_as_lines_of_one_range) {
  for (const unsigned overlap : {1u, 4u, 10u}) {
    memory_model model(two_nodes(overlap));
    const row_set one[] = {{0, 64, 8 * kB, false}};
    EXPECT_DOUBLE_EQ(model.access_rows(0, one, 40, 0), 100.0 * 40 / overlap);
    EXPECT_DOUBLE_EQ(model.access_rows(0, one, 0, 0), 0);
    EXPECT_DOUBLE_EQ(model.access_rows(0, {}, 10, 0), 0);
  }
}

TEST(rows, fast_lines_pass_a_slow_one) {
  memory_model model(two_nodes(10));
  // Nine lines of each row are in the second level, one comes from the other node.
  model.place(MB, MB, page_policy::bind, 1);
  const row_set near[] = {{0, 9 * 64, 9 * 64, false}};
  model.access_rows(0, near, 64, 0);
  const row_set both[] = {near[0], {MB, 64, 64, false}};
  const double took = model.access_rows(0, both, 64, 0);
  // In order, a row would take the slow line's 160 ns. Three rows and a bit fit into the reorder buffer of 32 lines.
  EXPECT_LT(took, 64 * 160 / 3.0);
  EXPECT_GT(took, 64 * 160 / 4.0);
}

}  // namespace
}  // namespace rows_test
}  // namespace heddle::sim

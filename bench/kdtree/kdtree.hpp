// Builds a kd-tree over n random points in space, between two buffers. At each node the points are partitioned in
// parallel around the median of the first three, along x, y and z in turn. Leaves have 4 KB; parts below 64 KB are
// serial. It is like quicksort with less work a byte. Origin: section 5.5.1 of the ADWS thesis.
#pragma once

#include <bit>

#include "harness/kernel.hpp"
#include "harness/partition.hpp"
#include "harness/placement.hpp"
#include "harness/random.hpp"
#include "harness/scale.hpp"
#include "harness/two_buffers.hpp"

namespace heddle::bench {

inline constexpr std::size_t kdtree_leaf = 4 << 10, kdtree_cutoff = 64 << 10;  // bytes

struct kdtree_point {
  double at[3];
};

// The node that cuts its points into [first, border) and [border, last) stands at nodes[border], because no other node
// cuts there. If `count` is 0, none does.
struct kdtree_node {
  double pivot;
  std::uint32_t axis;
  std::uint32_t count;
};

inline kdtree_point kdtree_random(std::size_t i) {
  const auto coordinate = [i](std::uint64_t which) {
    return static_cast<double>(mix64(3 * i + which) >> 11) * 0x1p-53;
  };
  return {{coordinate(0), coordinate(1), coordinate(2)}};
}

// Points lie at `from`, positions `first` .. `first` + n of the whole.
template <class Backend>
void kdtree_task(kdtree_point* from, kdtree_point* other, kdtree_node* nodes, std::size_t first, std::size_t n,
                 unsigned axis) {
  if (n * sizeof(kdtree_point) < scaled_bytes(kdtree_leaf) || n < 3) return;
  double pivot = 0;
  std::size_t border = 0;
  for (unsigned tries = 0; tries < 3 && border == 0; ++tries, axis = (axis + 1) % 3) {
    pivot = median_of(from[0].at[axis], from[1].at[axis], from[2].at[axis]);
    border = partition_into<Backend>(from, other, n, scaled_bytes(kdtree_cutoff),
                                     [=](const kdtree_point& p) { return p.at[axis] < pivot; });
  }
  if (border == 0) return;  // many equal points: one leaf
  nodes[first + border] = {pivot, (axis + 2) % 3, static_cast<std::uint32_t>(n)};
  const auto lower = [=] { kdtree_task<Backend>(other, from, nodes, first, border, axis); };
  const auto upper = [=] {
    kdtree_task<Backend>(other + border, from + border, nodes, first + border, n - border, axis);
  };
  if (n * sizeof(kdtree_point) < scaled_bytes(kdtree_cutoff)) {
    lower();
    upper();
  } else {
    invoke<Backend>(hint{static_cast<double>(border), static_cast<double>(n - border), 2 * n * sizeof(kdtree_point)},
                    lower, upper);
  }
}

struct kdtree {
  static constexpr std::size_t default_n = 700'000;  // 16 MiB, and as much for the other buffer
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    const std::size_t n = c.n();
    const two_buffers<kdtree_point> points(c);
    const placed_array<kdtree_node> nodes(n + 1, points.how);
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3,
          [&] {
            points.template fill<Backend>(kdtree_cutoff, [&](std::size_t i) {
              nodes[i] = {};
              return kdtree_random(i);
            });
          },
          [&] { kdtree_task<Backend>(points.from.data(), points.other.data(), nodes.data(), 0, n, 0); },
          [&] {
            digest d;
            for (const kdtree_node& x : nodes) {
              if (x.count == 0) continue;
              d.add(std::bit_cast<std::uint64_t>(x.pivot));
              d.add(x.axis);
              d.add(x.count);
            }
            return d.value();
          });
    });
  }
};

}  // namespace heddle::bench

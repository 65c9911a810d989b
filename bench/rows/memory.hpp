// Grids of doubles that are cut by rows. In two dimensions a row is a line of points, in three a plane of them. Lines
// of points begin at a cache line, so no two tasks write one. An odd number of cache lines a row, and grids half a page
// apart, keep rows and grids from falling into the same cache sets (as heat2d's do).
#pragma once

#include <bit>
#include <limits>
#include <stdexcept>
#include <string>

#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/placement.hpp"
#include "harness/random.hpp"
#include "rows/tree.hpp"

namespace heddle::bench {

// Rows, lines and points are counted with their border, `reach` wide on every side: the first inner one is `reach`.
struct rows_shape {
  static constexpr std::size_t cache_line = 64 / sizeof(double);

  // Throws std::invalid_argument for a size that no memory has.
  rows_shape(std::size_t rows, std::size_t columns, std::size_t reach, bool solid)
      : rows(rows), columns(columns), reach(reach), lines(solid ? columns + 2 * reach : 1) {
    constexpr std::size_t most = std::size_t{1} << 24;
    const auto refuse = [&] {
      throw std::invalid_argument("--n " + std::to_string(rows) + ", --columns " + std::to_string(columns) +
                                  ": a grid has 1 to 2^24 columns, at least one row, and less than 2^40 bytes");
    };
    if (rows == 0 || columns == 0 || columns > most) refuse();
    stride = (((columns + 2 * reach + cache_line - 1) / cache_line) | 1) * cache_line;
    row = ((lines * stride / cache_line) | 1) * cache_line;
    if (rows > (std::size_t{1} << 40) / sizeof(double) / row) refuse();
  }

  [[nodiscard]] bool solid() const { return lines != 1; }
  [[nodiscard]] std::size_t first() const { return reach; }
  [[nodiscard]] std::size_t last() const { return rows + reach; }
  // Of the points inside, relative to where a row begins: lines from line() on, so many.
  [[nodiscard]] std::size_t line() const { return solid() ? reach : 0; }
  [[nodiscard]] std::size_t inner_lines() const { return solid() ? columns : 1; }
  [[nodiscard]] std::size_t inner_points() const { return inner_lines() * columns; }  // of a row
  [[nodiscard]] std::size_t doubles() const { return (rows + 2 * reach) * row; }
  // From a grid to the next one.
  [[nodiscard]] std::size_t apart() const { return (doubles() + 511) / 512 * 512 + 256; }
  // Of the first inner point, whose index in its line is `reach`: it begins a cache line.
  [[nodiscard]] std::size_t shift() const { return cache_line - reach; }

  std::size_t rows, columns, reach, lines;  // rows and columns: inside
  std::size_t stride = 0, row = 0;          // doubles from a line to the next, from a row to the next
};

// `copies` grids of one shape in one piece of memory.
class rows_memory {
 public:
  rows_memory(const rows_shape& shape, std::size_t copies, touch how)
      : shape_(shape), copies_(copies), how_(how), memory_(copies * shape.apart() + rows_shape::cache_line, how) {}

  [[nodiscard]] const rows_shape& shape() const { return shape_; }
  [[nodiscard]] double* grid(std::size_t which) const {
    return memory_.data() + shape_.shift() + which % copies_ * shape_.apart();
  }
  [[nodiscard]] std::size_t bytes_a_row() const { return copies_ * shape_.row * sizeof(double); }

  // Called in setup, before the first start(), by the tasks of the tree `plan`. Under touch::first the pages that begin
  // in the rows of a leaf come to the worker that runs the leaf. Some work without memory comes before, for workers
  // that are still being started.
  template <class Backend>
  void place(const rows_plan& plan) const {
    if (how_ != touch::first) return;
    for (int i = 0; i < 5; ++i)
      rows_all<Backend>(plan, shape_.first(), shape_.last(), [](std::size_t, std::size_t) { busy_moment(); });
    rows_all<Backend>(plan, shape_.first(), shape_.last(), [this](std::size_t first, std::size_t last) {
      with_border(first, last);
      for (std::size_t which = 0; which < copies_; ++which)
        touch_pages_from(memory_.data(), grid(which) + first * shape_.row, grid(which) + last * shape_.row);
    });
  }

  // value(row, line, point) into rows [first, last) of all grids, and into the border beside them.
  template <class Value>
  void fill(std::size_t first, std::size_t last, const Value& value) const {
    with_border(first, last);
    for (std::size_t which = 0; which < copies_; ++which)
      told::write(grid(which) + first * shape_.row, (last - first) * shape_.row * sizeof(double));
    if (told::only()) return;
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t y = 0; y < shape_.lines; ++y)
        for (std::size_t x = 0; x < shape_.columns + 2 * shape_.reach; ++x) {
          const double v = value(i, y, x);
          for (std::size_t which = 0; which < copies_; ++which) grid(which)[i * shape_.row + y * shape_.stride + x] = v;
        }
  }
  // Does the same for all rows, by the same tasks.
  template <class Backend, class Value>
  void start(const rows_plan& plan, const Value& value) const {
    if (how_ == touch::serial) return fill(shape_.first(), shape_.last(), value);
    rows_all<Backend>(plan, shape_.first(), shape_.last(),
                      [&](std::size_t first, std::size_t last) { fill(first, last, value); });
  }

  // Of every bit of every point, border included.
  [[nodiscard]] std::uint64_t checksum(std::size_t which) const {
    digest d;
    for (std::size_t i = 0; i < shape_.rows + 2 * shape_.reach; ++i)
      for (std::size_t y = 0; y < shape_.lines; ++y)
        for (std::size_t x = 0; x < shape_.columns + 2 * shape_.reach; ++x)
          d.add(std::bit_cast<std::uint64_t>(grid(which)[i * shape_.row + y * shape_.stride + x]));
    return d.value();
  }

 private:
  // The outermost inner rows have the border's beside them.
  void with_border(std::size_t& first, std::size_t& last) const {
    if (first == shape_.first()) first = 0;
    if (last == shape_.last()) last += shape_.reach;
  }

  rows_shape shape_;
  std::size_t copies_;
  touch how_;
  placed_array<double> memory_;
};

// Small integers, the same ones on every runtime.
inline auto rows_random(const rows_shape& s) {
  return [points = s.columns + 2 * s.reach, lines = s.lines](std::size_t i, std::size_t y, std::size_t x) {
    return static_cast<double>(mix64((i * lines + y) * points + x) % 256);
  };
}

// Measures the program with both trees, each as a variant. `values(row, line, point)` is what all grids start with;
// iterate(plan, i) is one iteration, run in the runtime; result() the checksum after all.
template <class Backend, class Values, class Iterate, class Result>
void rows_measure(context& c, const rows_memory& memory, rows_plan plan, std::size_t iterations, const Values& values,
                  const Iterate& iterate, const Result& result) {
  Backend backend(c.options());
  bool placed = false;
  backend.run([&] {
    for (const rows_tree tree : {rows_tree::regular, rows_tree::irregular}) {
      if (!c.wants(rows_tree_name(tree))) continue;
      plan.tree = tree;
      static constexpr char setup{}, sweep{};  // stand for the two loops
      c.measure(
          rows_tree_name(tree), "ms", 1e3,
          [&] {
            next_iteration<Backend>(&setup);
            if (!placed) memory.place<Backend>(plan);
            placed = true;
            memory.start<Backend>(plan, values);
          },
          [&] {
            for (std::size_t i = 0; i < iterations; ++i) {
              next_iteration<Backend>(&sweep);
              iterate(plan, i);
            }
          },
          result);
    }
  });
}

inline rows_plan rows_plan_of(context& c) {
  rows_plan plan;
  plan.leaf = c.leaf(plan.leaf);
  return plan;
}

}  // namespace heddle::bench

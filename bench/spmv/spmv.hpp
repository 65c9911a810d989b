// Sparse matrix times vector, y += A x, by parallel loops over blocks of rows. The matrix is streamed, and decides
// which parts of x are read, so workers near each other in the loop read the same parts. --input: a Matrix Market file;
// otherwise a mesh of n points, --columns wide, with some long edges (matrix_market.hpp). A row is summed up in one
// order, and its unit is compiled without fused multiplications, so the result is bit for bit the same on every
// runtime.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/placement.hpp"
#include "harness/schedules.hpp"
#include "spmv/matrix_market.hpp"

namespace heddle::bench {

inline constexpr std::size_t spmv_block = 32;  // rows of an iteration of the loop
// An entry: a multiplication, and an addition that waits for the one before. Counted, not measured.
inline constexpr double spmv_entry_cycles = 4;

// The matrix and both vectors, in pages of their own.
class spmv_data {
 public:
  spmv_data(const sparse_matrix& m, touch how)
      : rows_(m.rows),
        begins_(m.begins.size(), how),
        column_(m.column.size(), how),
        value_(m.value.size(), how),
        x_(m.columns, how),
        y_(m.rows, how),
        source_(&m) {}

  [[nodiscard]] std::size_t blocks() const { return (rows_ + spmv_block - 1) / spmv_block; }
  [[nodiscard]] const double* y() const { return y_.data(); }

  // Fills all data that belong to the rows of a block. For x it is the part at the same place.
  void start(std::size_t block) const {
    const std::size_t first = block * spmv_block, last = std::min(rows_, first + spmv_block);
    const std::size_t begin = source_->begins[first], end = source_->begins[last];
    const bool ends = last == rows_;
    const std::size_t x_first = x_.size() * block / blocks(), x_last = x_.size() * (block + 1) / blocks();
    told::write(&begins_[first], (last - first + ends) * sizeof(std::uint64_t));
    told::write(value_.data() + begin, (end - begin) * sizeof(double));
    told::write(column_.data() + begin, (end - begin) * sizeof(std::uint32_t));
    told::write(x_.data() + x_first, (x_last - x_first) * sizeof(double));
    told::write(&y_[first], (last - first) * sizeof(double));
    std::copy_n(source_->begins.begin() + static_cast<std::ptrdiff_t>(first), last - first + ends, &begins_[first]);
    std::copy_n(source_->value.data() + begin, end - begin, value_.data() + begin);
    std::copy_n(source_->column.data() + begin, end - begin, column_.data() + begin);
    for (std::size_t j = x_first; j < x_last; ++j) x_[j] = static_cast<double>(mix64(j) % 256);
    std::fill_n(&y_[first], last - first, 0.0);
  }

  void multiply(std::size_t block) const {
    const std::size_t first = block * spmv_block, last = std::min(rows_, first + spmv_block);
    if (told::model() != nullptr) [[unlikely]] {
      tell(first, last);
      if (told::only()) return;
    }
    for (std::size_t i = first; i < last; ++i) {
      double sum = 0;
      for (std::uint64_t k = begins_[i]; k < begins_[i + 1]; ++k) sum += value_[k] * x_[column_[k]];
      y_[i] += sum;
    }
  }

  [[nodiscard]] std::uint64_t checksum() const {
    digest d;
    for (std::size_t i = 0; i < rows_; ++i) d.add(std::bit_cast<std::uint64_t>(y_[i]));
    return d.value();
  }

 private:
  // Declares entries and lines of x, row by row. Addresses do not depend on computed values, so their misses overlap.
  void tell(std::size_t first, std::size_t last) const {
    constexpr std::size_t most = 64;
    told::row_set sets[most];
    std::size_t count = 0;
    const auto add = [&](const void* at, std::size_t bytes, int write) {
      if (count == most) told::rows(sets, std::exchange(count, 0), 1);
      sets[count++] = {at, bytes, 0, write};
    };
    add(&begins_[first], (last - first + 1) * sizeof(std::uint64_t), 0);
    for (std::size_t i = first; i < last; ++i) {
      const std::uint64_t begin = begins_[i], end = begins_[i + 1];
      if (begin == end) continue;
      add(&value_[begin], (end - begin) * sizeof(double), 0);
      add(&column_[begin], (end - begin) * sizeof(std::uint32_t), 0);
      constexpr std::uintptr_t line = 64;
      std::uintptr_t told_line = std::numeric_limits<std::uintptr_t>::max();
      for (std::uint64_t k = begin; k < end; ++k) {
        const double* const at = &x_[column_[k]];
        if (reinterpret_cast<std::uintptr_t>(at) / line == told_line) continue;
        told_line = reinterpret_cast<std::uintptr_t>(at) / line;
        add(at, sizeof(double), 0);
      }
    }
    add(&y_[first], (last - first) * sizeof(double), 1);
    told::rows(sets, count, 1);
    told::cycles(spmv_entry_cycles * static_cast<double>(begins_[last] - begins_[first]));
  }

  std::size_t rows_;
  placed_array<std::uint64_t> begins_;
  placed_array<std::uint32_t> column_;
  placed_array<double> value_, x_, y_;
  const sparse_matrix* source_;
};

struct spmv {
  static constexpr std::size_t default_n = 200'000, default_iterations = 20;
  template <class Backend>
  static constexpr bool supports = Backend::loops;

  template <class Backend>
  static void execute(context& c) {
    const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(c.n())));
    const sparse_matrix matrix = c.input().empty() ? sparse_mesh(c.n(), c.columns(std::max<std::size_t>(side, 1)))
                                                   : read_matrix_market(c.input());
    const touch how = touch_of(c.options().touch, touch::interleave);
    const spmv_data data(matrix, how);
    const std::size_t iterations = c.iterations(default_iterations);
    Backend backend(c.options());
    backend.run_loops([&] {
      measure_schedules<Backend>(
          c,
          [&](const auto& loop) {
            touch_by(loop, how, data.blocks(), [&data](std::size_t block) { data.start(block); });
          },
          [&](const auto& loop) {
            for (std::size_t i = 0; i < iterations; ++i)
              loop(data.blocks(), [&data](std::size_t block) { data.multiply(block); });
          },
          [&] { return data.checksum(); });
    });
  }
};

}  // namespace heddle::bench

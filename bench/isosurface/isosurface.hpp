// The surface on which a volume has a given value, by marching tetrahedra. A parallel loop over rows of cells counts
// the triangles of each row, and a second one writes them behind those of the rows before. A row of cells reads four
// rows of points. The next row shares two of them, and the row above shares two others, so workers near each other in
// the loop find in a shared cache the rows that the others have read. Two uses of a point are a plane apart, which has
// --columns^2 cells, by default n^2; there are n planes. --input: a legacy VTK file of structured points (volume.hpp);
// --level: the value; --output: a file of the surface (surface.hpp). Its unit is compiled without fused
// multiplications, so the result is bit for bit the same on every runtime. Triangles are in the order of the rows.
// Tchiboukdjian et al. measure this kernel, and their loops keep workers together.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <utility>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/placement.hpp"
#include "harness/schedules.hpp"
#include "isosurface/surface.hpp"
#include "isosurface/tetrahedra.hpp"
#include "isosurface/volume.hpp"

namespace heddle::bench {

// A cell: four loads and comparisons that are new, and the index, some 16 instructions, four a cycle; a triangle: three
// points, each of a division and three multiplications. Counted, not measured.
inline constexpr double isosurface_cell_cycles = 4, isosurface_triangle_cycles = 90;

class isosurface_data {
 public:
  isosurface_data(const volume& source, float level, touch how)
      : source_(source),
        level_(level),
        values_(source.value.size(), how),
        first_((source.ny - 1) * (source.nz - 1) + 1, how) {}

  [[nodiscard]] std::size_t rows() const { return first_.size() - 1; }
  [[nodiscard]] std::size_t planes() const { return source_.nz; }
  [[nodiscard]] std::span<const surface_triangle> triangles() const { return {triangles_.get(), count_}; }

  void start(std::size_t plane) const {
    const std::size_t size = source_.nx * source_.ny;
    told::write(&values_[plane * size], size * sizeof(float));
    std::copy_n(source_.value.data() + plane * size, size, &values_[plane * size]);
  }

  // The triangles of a row of cells, for sum_up().
  void count(std::size_t row) const {
    if (told::model() != nullptr) [[unlikely]] {
      tell(row);
      told::cycles(isosurface_cell_cycles * static_cast<double>(source_.nx - 1));
      told::write(&first_[row], sizeof(std::uint64_t));
    }
    std::uint64_t triangles = 0;
    each_cell(row, [&](std::size_t, unsigned inside) { triangles += cell_table[inside].count; });
    first_[row] = triangles;
  }
  // Where those of each row begin, and room for all.
  void sum_up() {
    told::write(first_.data(), first_.size() * sizeof(std::uint64_t));
    std::uint64_t sum = 0;
    for (std::size_t row = 0; row < rows(); ++row) first_[row] = std::exchange(sum, sum + first_[row]);
    first_[rows()] = sum;
    count_ = sum;
    if (count_ > room_) triangles_ = std::make_unique_for_overwrite<surface_triangle[]>(room_ = count_);
  }
  void extract(std::size_t row) const {
    const std::uint64_t begin = first_[row], end = first_[row + 1];
    if (told::model() != nullptr) [[unlikely]] {
      told::read(&first_[row], 2 * sizeof(std::uint64_t));
      if (begin != end) {
        tell(row);
        told::write(&triangles_[begin], (end - begin) * sizeof(surface_triangle));
        told::cycles(isosurface_cell_cycles * static_cast<double>(source_.nx - 1) +
                     isosurface_triangle_cycles * static_cast<double>(end - begin));
      }
    }
    if (begin == end) return;
    surface_triangle* to = &triangles_[begin];
    const std::size_t y = row % (source_.ny - 1), z = row / (source_.ny - 1);
    each_cell(row, [&](std::size_t x, unsigned inside) {
      const cell_triangles& cell = cell_table[inside];
      for (std::size_t t = 0; t < cell.count; ++t, ++to)
        for (std::size_t k = 0; k < 3; ++k) (*to)[k] = point(x, y, z, cell.of[t][k]);
    });
  }

  [[nodiscard]] std::uint64_t checksum() const {
    digest d;
    for (const surface_triangle& t : triangles())
      for (const surface_point& p : t)
        for (const float x : p) d.add(std::bit_cast<std::uint32_t>(x));
    return d.value();
  }

 private:
  [[nodiscard]] std::size_t index(std::size_t x, std::size_t y, std::size_t z) const {
    return (z * source_.ny + y) * source_.nx + x;
  }

  void tell(std::size_t row) const {
    const std::size_t bytes = source_.nx * sizeof(float);
    const float* const at = &values_[index(0, row % (source_.ny - 1), row / (source_.ny - 1))];
    const std::size_t next = source_.nx, above = source_.nx * source_.ny;
    told::rows(
        {{at, bytes, 0, 0}, {at + next, bytes, 0, 0}, {at + above, bytes, 0, 0}, {at + above + next, bytes, 0, 0}}, 1);
  }

  // f(x, inside) for the cells of a row that the surface may cross.
  template <class F>
  void each_cell(std::size_t row, const F& f) const {
    const float* const at = &values_[index(0, row % (source_.ny - 1), row / (source_.ny - 1))];
    const std::size_t next = source_.nx, above = source_.nx * source_.ny;
    const auto column = [&](std::size_t x) {  // corners 0, 2, 4, 6 of a cell
      return static_cast<unsigned>(at[x] >= level_) | static_cast<unsigned>(at[x + next] >= level_) << 2 |
             static_cast<unsigned>(at[x + above] >= level_) << 4 |
             static_cast<unsigned>(at[x + above + next] >= level_) << 6;
    };
    unsigned left = column(0);
    for (std::size_t x = 0; x + 1 < source_.nx; ++x) {
      const unsigned right = column(x + 1), inside = left | right << 1;
      if (inside != 0 && inside != 255) f(x, inside);
      left = right;
    }
  }

  // Where the surface crosses an edge of cell (x, y, z), computed from its lower end, as all cells do that share it.
  [[nodiscard]] surface_point point(std::size_t x, std::size_t y, std::size_t z, cell_edge e) const {
    const auto value = [&](unsigned c) { return values_[index(x + (c & 1), y + (c >> 1 & 1), z + (c >> 2))]; };
    const float from = value(e.low), to = value(e.high), part = (level_ - from) / (to - from);
    const std::size_t low[3] = {x + (e.low & 1), y + (e.low >> 1 & 1), z + (e.low >> 2)};
    const unsigned direction = e.high - e.low;
    surface_point p;
    for (unsigned k = 0; k < 3; ++k) {
      const float along = (direction >> k & 1) != 0 ? part : 0.0F;
      p[k] = static_cast<float>(source_.origin[k] +
                                source_.spacing[k] * (static_cast<double>(low[k]) + static_cast<double>(along)));
    }
    return p;
  }

  const volume& source_;
  float level_;
  placed_array<float> values_;
  placed_array<std::uint64_t> first_;  // triangles of each row, then those of all rows before it
  std::unique_ptr<surface_triangle[]> triangles_;
  std::size_t count_ = 0, room_ = 0;
};

struct isosurface {
  static constexpr std::size_t default_n = 128;
  template <class Backend>
  static constexpr bool supports = Backend::loops;

  template <class Backend>
  static void execute(context& c) {
    const volume source = c.input().empty() ? tangle(c.n(), c.columns(c.n())) : read_vtk(c.input());
    const touch how = touch_of(c.options().touch, touch::interleave);
    isosurface_data data(source, static_cast<float>(c.level(0)), how);
    const std::size_t iterations = c.iterations(1);
    const std::string output = c.output();
    if (!output.empty()) is_obj(output);
    Backend backend(c.options());
    backend.run_loops([&] {
      measure_schedules<Backend>(
          c, [&](const auto& loop) { touch_by(loop, how, data.planes(), [&data](std::size_t z) { data.start(z); }); },
          [&](const auto& loop) {
            for (std::size_t i = 0; i < iterations; ++i) {
              loop(data.rows(), [&data](std::size_t row) { data.count(row); });
              data.sum_up();
              loop(data.rows(), [&data](std::size_t row) { data.extract(row); });
            }
          },
          [&] { return data.checksum(); });
    });
    if (!output.empty()) write_surface(output, data.triangles());
  }
};

}  // namespace heddle::bench

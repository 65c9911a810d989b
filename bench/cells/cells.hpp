// Cells of a plane that exchange values with nearby cells: a mesh without structure. n cells of unequal size lie in a
// jittered grid. In each of `--iterations` rounds every cell adds to its values those of all cells within a distance,
// between none and some ten. There is a task for each cell, and all are children of one group. Which tasks share data
// depends on the places of the cells. "ordered" numbers the cells row by row; "shuffled" numbers them at random, in
// memory, too, so that the numbers say nothing. The values are sums of integers, the same on every runtime. Round 0,
// which fills the cells and is not timed, consists of the same children as all others, so they touch a cell first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/placement.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

// An addition of values that are in the first-level cache, two a cycle with vectors of 128 bits: counted, not measured.
inline constexpr double cells_value_cycles = 0.5;
// The largest distance of a neighbour's middle, in cells of the grid before they are moved, and the largest move.
inline constexpr double cells_reach = 1.3, cells_jitter = 0.8;

class cells_mesh {
 public:
  // `size`: values of a cell on average; they have between half and one and a half of it.
  cells_mesh(std::size_t n, std::size_t size, bool shuffled, touch how) : number_(n), begins_(n + 1), neighbours_(n) {
    std::iota(number_.begin(), number_.end(), 0u);
    if (shuffled)
      for (std::size_t i = n; i > 1; --i) std::swap(number_[i - 1], number_[mix64(i) % i]);
    find_neighbours();
    std::size_t values = 0;
    for (std::size_t i = 0; i < n; ++i) {
      begins_[i] = values;
      values += (size / 2 + mix64(0x5eed + i) % (size + 1) + line - 1) / line * line;
    }
    begins_[n] = values;
    values_[0] = placed_array<std::uint64_t>(values, how);
    values_[1] = placed_array<std::uint64_t>(values, how);
  }

  [[nodiscard]] std::size_t cells() const { return neighbours_.size(); }
  [[nodiscard]] std::size_t bytes() const { return 2 * begins_.back() * sizeof(std::uint64_t); }
  [[nodiscard]] std::size_t size(std::size_t cell) const { return begins_[cell + 1] - begins_[cell]; }
  [[nodiscard]] const std::vector<std::uint32_t>& neighbours(std::size_t cell) const { return neighbours_[cell]; }
  // Returns the number of values that are added up in a round.
  [[nodiscard]] double work(std::size_t cell) const {
    std::size_t sum = size(cell);
    for (const std::uint32_t j : neighbours_[cell]) sum += std::min(size(cell), size(j));
    return static_cast<double>(sum);
  }

  void fill(std::size_t cell) const {
    const std::size_t first = begins_[cell], count = size(cell);
    for (const auto& values : values_) told::write(&values[first], count * sizeof(std::uint64_t));
    if (told::only()) return;
    for (std::size_t k = 0; k < count; ++k) values_[0][first + k] = mix64(first + k), values_[1][first + k] = 0;
  }

  // Reads the values that were written in the round before.
  void step(std::size_t round, std::size_t cell) const {
    const std::uint64_t* const from = values_[(round + 1) % 2].data();
    const std::size_t count = size(cell);
    std::uint64_t* __restrict const to = values_[round % 2].data() + begins_[cell];
    if (told::model() != nullptr) [[unlikely]] {
      told::read(from + begins_[cell], count * sizeof(std::uint64_t));
      for (const std::uint32_t j : neighbours_[cell])
        told::read(from + begins_[j], std::min(count, size(j)) * sizeof(std::uint64_t));
      told::write(to, count * sizeof(std::uint64_t));
      told::cycles(cells_value_cycles * work(cell));
      if (told::only()) return;
    }
    std::copy_n(from + begins_[cell], count, to);
    for (const std::uint32_t j : neighbours_[cell]) {
      const std::uint64_t* const other = from + begins_[j];
      const std::size_t both = std::min(count, size(j));
      for (std::size_t k = 0; k < both; ++k) to[k] += other[k];
    }
  }

  [[nodiscard]] std::uint64_t checksum(std::size_t rounds) const {
    digest d;
    for (const std::uint64_t v : values_[rounds % 2]) d.add(v);
    return d.value();
  }

 private:
  static constexpr std::size_t line = 64 / sizeof(std::uint64_t);

  void find_neighbours() {
    const std::size_t n = neighbours_.size();
    const auto side = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(n))));
    const auto jitter = [](std::uint64_t key) {
      return cells_jitter * (static_cast<double>(mix64(key) >> 11) * 0x1p-53 - 0.5);
    };
    const auto x = [&](std::size_t at) { return static_cast<double>(at % side) + jitter(2 * at); };
    const auto y = [&](std::size_t at) { return static_cast<double>(at / side) + jitter(2 * at + 1); };
    constexpr std::size_t around = 3;  // no neighbour is farther away in the grid
    for (std::size_t at = 0; at < n; ++at) {
      const std::size_t column = at % side, row = at / side;
      for (std::size_t r = row - std::min(row, around); r <= row + around; ++r)
        for (std::size_t c = column - std::min(column, around); c <= std::min(column + around, side - 1); ++c) {
          const std::size_t other = r * side + c;
          if (other >= n || other == at || std::hypot(x(at) - x(other), y(at) - y(other)) > cells_reach) continue;
          neighbours_[number_[at]].push_back(number_[other]);
        }
    }
    for (auto& list : neighbours_) std::sort(list.begin(), list.end());
  }

  std::vector<std::uint32_t> number_;  // of the cell at each place of the grid
  std::vector<std::size_t> begins_;    // of each cell, in both arrays
  std::vector<std::vector<std::uint32_t>> neighbours_;
  placed_array<std::uint64_t> values_[2];
};

struct cells {
  static constexpr std::size_t default_n = 4096, default_size = 512, default_iterations = 20;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void round(const cells_mesh& mesh, const std::vector<double>& work, std::size_t number) {
    children<Backend>(static_cast<int>(mesh.cells()), work.data(), mesh.bytes(), [&mesh, number](int i) {
      if (number == 0) mesh.fill(static_cast<std::size_t>(i));
      else mesh.step(number, static_cast<std::size_t>(i));
    });
  }

  template <class Backend>
  static void execute(context& c) {
    const std::size_t size = c.columns(default_size), rounds = c.iterations(default_iterations);
    if (c.n() == 0 || c.n() > 1 << 20 || size > 1 << 20) {
      throw std::invalid_argument("--n " + std::to_string(c.n()) + ", --columns " + std::to_string(size) +
                                  ": there are 1 to 2^20 cells, of at most 2^20 values");
    }
    Backend backend(c.options());
    const auto run = [&](const char* metric, bool shuffled) {
      const cells_mesh mesh(c.n(), size, shuffled, touch_of(c.options().touch, touch::first));
      std::vector<double> work;
      for (std::size_t i = 0; i < mesh.cells(); ++i) work.push_back(mesh.work(i));
      c.measure(
          metric, "ms", 1e3, [&] { round<Backend>(mesh, work, 0); },
          [&] {
            for (std::size_t i = 1; i <= rounds; ++i) round<Backend>(mesh, work, i);
          },
          [&] { return mesh.checksum(rounds); });
    };
    backend.run([&] {
      const bool shuffled = c.chose("shuffled");
      if (c.wants("ordered")) run("time", false);
      if (shuffled) run("shuffled", true);
    });
  }
};

}  // namespace heddle::bench

// A filter on an image. Each sample becomes the mean of 7 x 7 samples, weighted by products of binomials (1, 6, 15, 20,
// ..), once in each iteration. There are parallel loops over rows, each of which reads seven rows, so workers near each
// other in the loop read the same rows. --input: a PGM or PPM file; otherwise the program makes an image of n rows and
// --columns, by default n (image.hpp). --output: the result. All values are integers, the same on every runtime. Beyond
// its edges an image has the values of the edge.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "backend/common.hpp"
#include "convolve/image.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/placement.hpp"
#include "harness/schedules.hpp"

namespace heddle::bench {

inline constexpr std::size_t convolve_reach = 3, convolve_width = 2 * convolve_reach + 1;
inline constexpr std::array<std::uint32_t, convolve_width> convolve_weights{1, 6, 15, 20, 15, 6, 1};  // 64 together
// A sample: 49 multiply-adds, eight 32-bit ones at once, each with a load that has to be widened. Counted, not
// measured.
inline constexpr double convolve_cycles = 49.0 / 8 * 1.5;

// Two images with a border on the left and on the right.
class convolve_data {
 public:
  convolve_data(const image& source, touch how)
      : source_(source),
        inner_(source.width * source.channels),
        border_(convolve_reach * source.channels),
        stride_((inner_ + 2 * border_ + 63) / 64 * 64),
        memory_(2 * source.height * stride_, how) {}

  [[nodiscard]] std::size_t rows() const { return source_.height; }
  [[nodiscard]] std::uint8_t* row(std::size_t which, std::size_t y) const {
    return memory_.data() + (which % 2 * rows() + y) * stride_;
  }

  void start(std::size_t y) const {
    for (const std::size_t which : {0, 1}) {
      told::write(row(which, y), stride_);
      std::copy_n(source_.samples.data() + y * inner_, inner_, row(which, y) + border_);
      extend(row(which, y));
    }
  }

  // Row y of image `which` + 1 from those around it in image `which`.
  void filter(std::size_t which, std::size_t y) const {
    std::array<const std::uint8_t*, convolve_width> from;
    for (std::size_t k = 0; k < convolve_width; ++k)
      from[k] = row(which, std::clamp(y + k, convolve_reach, rows() - 1 + convolve_reach) - convolve_reach);
    std::uint8_t* const to = row(which + 1, y);
    if (told::model() != nullptr) [[unlikely]] {
      std::array<told::row_set, convolve_width + 1> sets;
      for (std::size_t k = 0; k < convolve_width; ++k) sets[k] = {from[k], inner_ + 2 * border_, 0, 0};
      sets[convolve_width] = {to, inner_ + 2 * border_, 0, 1};
      told::rows(sets.data(), sets.size(), 1);
      told::cycles(convolve_cycles * static_cast<double>(inner_));
      if (told::only()) return;
    }
    constexpr std::size_t piece = 256;  // sums that stay in the first-level cache
    std::array<std::uint32_t, piece> sums;
    const std::size_t step = source_.channels;
    for (std::size_t begin = 0; begin < inner_; begin += piece) {
      const std::size_t count = std::min(piece, inner_ - begin);
      sums.fill(2048);  // half of what is divided by
      for (std::size_t k = 0; k < convolve_width; ++k) {
        for (std::size_t j = 0; j < convolve_width; ++j) {
          const std::uint32_t weight = convolve_weights[k] * convolve_weights[j];
          const std::uint8_t* const at = from[k] + begin + j * step;
          for (std::size_t x = 0; x < count; ++x) sums[x] += weight * at[x];
        }
      }
      for (std::size_t x = 0; x < count; ++x) to[border_ + begin + x] = static_cast<std::uint8_t>(sums[x] / 4096);
    }
    extend(to);
  }

  [[nodiscard]] image result(std::size_t which) const {
    image i{source_.width, source_.height, source_.channels, {}};
    for (std::size_t y = 0; y < rows(); ++y) {
      const std::uint8_t* const first = row(which, y) + border_;
      i.samples.insert(i.samples.end(), first, first + inner_);
    }
    return i;
  }

 private:
  void extend(std::uint8_t* row) const {
    const std::size_t step = source_.channels;
    for (std::size_t x = 0; x < border_; ++x) {
      row[x] = row[border_ + x % step];
      row[border_ + inner_ + x] = row[border_ + inner_ - step + x % step];
    }
  }

  const image& source_;
  std::size_t inner_, border_, stride_;
  placed_array<std::uint8_t> memory_;
};

struct convolve {
  static constexpr std::size_t default_n = 1024, default_iterations = 5;
  template <class Backend>
  static constexpr bool supports = Backend::loops;

  template <class Backend>
  static void execute(context& c) {
    const image source = c.input().empty() ? ringed_image(c.n(), c.columns(c.n())) : read_netpbm(c.input());
    const touch how = touch_of(c.options().touch, touch::interleave);
    const convolve_data data(source, how);
    const std::size_t iterations = c.iterations(default_iterations);
    const std::string output = c.output();
    Backend backend(c.options());
    backend.run_loops([&] {
      measure_schedules<Backend>(
          c, [&](const auto& loop) { touch_by(loop, how, data.rows(), [&data](std::size_t y) { data.start(y); }); },
          [&](const auto& loop) {
            for (std::size_t i = 0; i < iterations; ++i)
              loop(data.rows(), [&data, i](std::size_t y) { data.filter(i, y); });
          },
          [&] {
            digest d;
            for (const std::uint8_t x : data.result(iterations).samples) d.add(x);
            return d.value();
          });
    });
    if (!output.empty()) write_netpbm(output, data.result(iterations));
  }
};

}  // namespace heddle::bench

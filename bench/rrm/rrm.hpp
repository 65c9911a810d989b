// Recursive repeated map: an array of doubles is mapped three times in parallel, then each half is treated in the same
// way. It has little work a byte and uses the same data again and again. So it is bound by memory, and shows the gain
// of deterministic schedules in consecutive loops. Origin: Simhadri et al. (SPAA 2014), as simplified in section 5.5.1
// of the ADWS thesis, with its cutoffs. The factor is a power of two, so a fused multiplication changes nothing.
#pragma once

#include <bit>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/placement.hpp"
#include "harness/random.hpp"
#include "harness/scale.hpp"

namespace heddle::bench {

inline constexpr int rrm_maps = 3;
inline constexpr std::size_t rrm_leaf = 32 << 10, rrm_piece = 128 << 10;  // bytes
inline constexpr double rrm_cycles = 0.4;  // an element: a load, a multiply-add, a store, four elements at once

inline void rrm_map(double* first, double* last) {
  told::write(first, static_cast<std::size_t>(last - first) * sizeof(double));
  told::cycles(rrm_cycles * static_cast<double>(last - first));
  if (told::only()) return;
  for (double* x = first; x != last; ++x) *x += 0x1p-10 * *x;
}

template <class Backend>
void rrm_loop(double* array, std::size_t n) {
  for_halves<Backend>(0, n, sizeof(double), sizeof(double), scaled_bytes(rrm_piece),
                      [array](std::size_t first, std::size_t last) { rrm_map(array + first, array + last); });
}

template <class Backend>
void rrm_task(double* array, std::size_t n) {
  if (n * sizeof(double) < scaled_bytes(rrm_leaf) || n < 2) {
    for (int k = 0; k < rrm_maps; ++k) rrm_map(array, array + n);
    return;
  }
  for (int k = 0; k < rrm_maps; ++k) rrm_loop<Backend>(array, n);
  const std::size_t half = n / 2;
  invoke<Backend>(
      hint{static_cast<double>(half), static_cast<double>(n - half), n * sizeof(double)},
      [=] { rrm_task<Backend>(array, half); }, [=] { rrm_task<Backend>(array + half, n - half); });
}

struct rrm {
  static constexpr std::size_t default_n = 2 << 20;  // 16 MiB
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    const std::size_t n = c.n();
    const touch how = touch_of(c.options().touch, touch::interleave);
    const placed_array<double> array(n, how);
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3,
          [&] {
            const auto fill = [&](std::size_t first, std::size_t last) {
              told::write(&array[first], (last - first) * sizeof(double));
              for (std::size_t i = first; i < last; ++i) array[i] = static_cast<double>(mix64(i) >> 40);
            };
            if (how == touch::serial) fill(0, n);
            else for_halves<Backend>(0, n, sizeof(double), sizeof(double), rrm_piece, fill);
          },
          [&] {
            for (std::size_t i = 0; i < c.iterations(1); ++i) rrm_task<Backend>(array.data(), n);
          },
          [&] {
            digest d;
            for (const double x : array) d.add(std::bit_cast<std::uint64_t>(x));
            return d.value();
          });
    });
  }
};

}  // namespace heddle::bench

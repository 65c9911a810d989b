// Quicksort of n doubles between two buffers, with parallel partitions, from section 5.5.1 of the ADWS thesis. Its
// cutoffs are 64 KB for recursion and partition; a pivot is the median of the first three. Near the leaves it is bound
// by computation. The sides are of unequal size, for which multi-level schedulers pay with idle time.
#pragma once

#include <algorithm>
#include <bit>

#include "harness/kernel.hpp"
#include "harness/partition.hpp"
#include "harness/random.hpp"
#include "harness/scale.hpp"
#include "harness/two_buffers.hpp"

namespace heddle::bench {

inline constexpr std::size_t bufsort_cutoff = 64 << 10;  // bytes
inline constexpr double bufsort_cycles = 14;             // an element and bit of the length, of a serial sort

// Sorts n elements at `from`. The result is there, or at `other` if `away`.
template <class Backend>
void bufsort_task(double* from, double* other, std::size_t n, bool away) {
  const std::size_t cutoff = scaled_bytes(bufsort_cutoff);
  if (n * sizeof(double) <= cutoff) {
    told::write(from, n * sizeof(double));
    told::cycles(bufsort_cycles * static_cast<double>(n) * static_cast<double>(std::bit_width(n)));
    if (away) told::write(other, n * sizeof(double));
    std::sort(from, from + n);
    if (away) std::copy(from, from + n, other);
    return;
  }
  const double pivot = median_of(from[0], from[1], from[2]);
  std::size_t border = partition_into<Backend>(from, other, n, cutoff, [pivot](double x) { return x < pivot; });
  if (border == 0) {  // nothing is smaller: those that are equal are in place
    border = partition_into<Backend>(from, other, n, cutoff, [pivot](double x) { return x <= pivot; });
    if (!away) std::copy(other, other + border, from);
    return bufsort_task<Backend>(other + border, from + border, n - border, !away);
  }
  invoke<Backend>(
      hint{static_cast<double>(border), static_cast<double>(n - border), 2 * n * sizeof(double)},
      [=] { bufsort_task<Backend>(other, from, border, !away); },
      [=] { bufsort_task<Backend>(other + border, from + border, n - border, !away); });
}

struct bufsort {
  static constexpr std::size_t default_n = 2 << 20;  // 16 MiB, and as much for the other buffer
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    const std::size_t n = c.n();
    const two_buffers<double> numbers(c);
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3,
          [&] {
            numbers.template fill<Backend>(bufsort_cutoff,
                                           [](std::size_t i) { return static_cast<double>(mix64(i) >> 11); });
          },
          [&] { bufsort_task<Backend>(numbers.from.data(), numbers.other.data(), n, false); },
          [&] {
            digest d;
            for (const double x : numbers.from) d.add(std::bit_cast<std::uint64_t>(x));
            return d.value();
          });
    });
  }
};

}  // namespace heddle::bench

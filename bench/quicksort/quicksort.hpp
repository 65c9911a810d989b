// Quicksort of n 32-bit numbers: the split is serial, so the first levels limit the speed-up; sides
// of unequal size. Below 512 elements no task is made. Origin: Hoare 1962; the usual first example
// of nested fork-join.
#pragma once

#include <bit>
#include <utility>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

inline constexpr std::ptrdiff_t sort_spawn_limit = 512;
inline constexpr std::ptrdiff_t sort_insertion_limit = 24;

inline void insertion_sort(std::uint32_t* first, std::uint32_t* last) {
  for (std::uint32_t* i = first; i != last; ++i) {
    const std::uint32_t value = *i;
    std::uint32_t* hole = i;
    for (; hole != first && hole[-1] > value; --hole) *hole = hole[-1];
    *hole = value;
  }
}

// Hoare's partition around the median of three; both sides are shorter than the whole. At least 3
// elements.
inline std::uint32_t* partition_around_median(std::uint32_t* first, std::uint32_t* last) {
  std::uint32_t* const middle = first + (last - first) / 2;
  if (*middle < *first) std::swap(*middle, *first);
  if (last[-1] < *middle) std::swap(last[-1], *middle);
  if (*middle < *first) std::swap(*middle, *first);
  const std::uint32_t pivot = *middle;
  std::uint32_t* low = first;
  std::uint32_t* high = last - 1;
  for (;;) {
    while (*low < pivot) ++low;
    while (pivot < *high) --high;
    if (low >= high) return high + 1;
    std::swap(*low++, *high--);
  }
}

// Half of the comparisons of a partition are mispredicted.
inline void tell_partition(const std::uint32_t* first, const std::uint32_t* last) {
  if (told::model() == nullptr) [[likely]]
    return;
  const std::size_t bytes = static_cast<std::size_t>(last - first) * sizeof(std::uint32_t);
  constexpr std::size_t step = 4096;  // from both ends, as it goes
  for (std::size_t at = 0; at < bytes; at += 2 * step) {
    const std::size_t left = bytes - at;
    told::write(reinterpret_cast<const char*>(first) + at / 2, left < step ? left : step);
    if (left > step) told::write(reinterpret_cast<const char*>(last) - at / 2 - step, step);
  }
  told::cycles(8 * static_cast<double>(last - first));
}
// The whole of a piece that no task is made for.
inline void tell_sort(const std::uint32_t* first, const std::uint32_t* last) {
  if (told::model() == nullptr || last == first) [[likely]]
    return;
  const auto n = static_cast<std::size_t>(last - first);
  told::write(first, n * sizeof(std::uint32_t));
  told::cycles(6 * static_cast<double>(n) * static_cast<double>(std::bit_width(n)));
}

template <class Backend>
void quicksort_parts(std::uint32_t* first, std::uint32_t* last);

template <class Backend>
void quicksort_task(std::uint32_t* first, std::uint32_t* last) {
  if (last - first <= sort_spawn_limit) tell_sort(first, last);
  quicksort_parts<Backend>(first, last);
}

template <class Backend>
void quicksort_parts(std::uint32_t* first, std::uint32_t* last) {
  while (last - first > sort_insertion_limit) {
    if (last - first > sort_spawn_limit) tell_partition(first, last);
    std::uint32_t* const middle = partition_around_median(first, last);
    if (last - first > sort_spawn_limit) {
      invoke<Backend>(
          hint{static_cast<double>(middle - first), static_cast<double>(last - middle),
               static_cast<std::size_t>(last - first) * sizeof(std::uint32_t)},
          [=] { quicksort_task<Backend>(first, middle); }, [=] { quicksort_task<Backend>(middle, last); });
      return;
    }
    quicksort_parts<Backend>(first, middle);
    first = middle;
  }
  insertion_sort(first, last);
}

inline std::vector<std::uint32_t> random_numbers(std::size_t n) {
  std::vector<std::uint32_t> numbers(n);
  for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<std::uint32_t>(mix64(i));
  return numbers;
}

inline std::uint64_t digest_of(const std::vector<std::uint32_t>& numbers) {
  digest d;
  for (const std::uint32_t x : numbers) d.add(x);
  return d.value();
}

struct quicksort {
  static constexpr std::size_t default_n = 4'000'000;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    const std::vector<std::uint32_t> input = random_numbers(c.n());
    std::vector<std::uint32_t> numbers;
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3, [&] { numbers = input; },
          [&] { quicksort_task<Backend>(numbers.data(), numbers.data() + numbers.size()); },
          [&] { return digest_of(numbers); });
    });
  }
};

}  // namespace heddle::bench

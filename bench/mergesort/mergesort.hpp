// Mergesort of n 32-bit numbers with a parallel merge (the longer run is halved, the other searched
// for its place): streams through memory, two kinds of recursion. Origin: the Cilk distribution's
// cilksort.
#pragma once

#include <algorithm>

#include "harness/kernel.hpp"
#include "quicksort/quicksort.hpp"

namespace heddle::bench {

inline constexpr std::ptrdiff_t merge_spawn_limit = 4096;

inline void merge_leaf(const std::uint32_t* a, const std::uint32_t* a_end, const std::uint32_t* b,
                       const std::uint32_t* b_end, std::uint32_t* out) {
  if (told::model() != nullptr) [[unlikely]] {
    told::read(a, static_cast<std::size_t>(a_end - a) * sizeof(*a));
    told::read(b, static_cast<std::size_t>(b_end - b) * sizeof(*b));
    const auto n = static_cast<std::size_t>((a_end - a) + (b_end - b));
    told::write(out, n * sizeof(*out));
    told::cycles(13 * static_cast<double>(n));  // every other comparison is mispredicted
  }
  while (a != a_end && b != b_end) {
    const bool second = *b < *a;
    *out++ = second ? *b : *a;
    b += second ? 1 : 0;
    a += second ? 0 : 1;
  }
  out = std::copy(a, a_end, out);
  std::copy(b, b_end, out);
}

template <class Backend>
void merge_task(const std::uint32_t* a, const std::uint32_t* a_end, const std::uint32_t* b, const std::uint32_t* b_end,
                std::uint32_t* out) {
  if (a_end - a < b_end - b) {
    std::swap(a, b);
    std::swap(a_end, b_end);
  }
  if ((a_end - a) + (b_end - b) <= merge_spawn_limit) {
    merge_leaf(a, a_end, b, b_end, out);
    return;
  }
  const std::uint32_t* const a_middle = a + (a_end - a) / 2;
  const std::uint32_t* const b_middle = std::lower_bound(b, b_end, *a_middle);
  std::uint32_t* const out_middle = out + (a_middle - a) + (b_middle - b);
  const auto lower = static_cast<std::size_t>(out_middle - out);
  const auto all = static_cast<std::size_t>((a_end - a) + (b_end - b));
  invoke<Backend>(
      hint{static_cast<double>(lower), static_cast<double>(all - lower), 2 * all * sizeof(std::uint32_t)},
      [=] { merge_task<Backend>(a, a_middle, b, b_middle, out); },
      [=] { merge_task<Backend>(a_middle, a_end, b_middle, b_end, out_middle); });
}

// Sorts [first, last). The result lies in `other` (same length) if `into_other`, and otherwise in place.
template <class Backend>
void mergesort_task(std::uint32_t* first, std::uint32_t* last, std::uint32_t* other, bool into_other) {
  const std::ptrdiff_t n = last - first;
  if (n <= sort_insertion_limit) {
    tell_sort(first, last);
    insertion_sort(first, last);
    if (into_other) std::copy(first, last, other);
    return;
  }
  const std::ptrdiff_t half = n / 2;
  const auto left = [=] { mergesort_task<Backend>(first, first + half, other, !into_other); };
  const auto right = [=] { mergesort_task<Backend>(first + half, last, other + half, !into_other); };
  if (n > sort_spawn_limit) {
    invoke<Backend>(hint{static_cast<double>(half), static_cast<double>(n - half),
                         2 * static_cast<std::size_t>(n) * sizeof(std::uint32_t)},
                    left, right);
  } else {
    left();
    right();
  }
  const std::uint32_t* const from = into_other ? first : other;
  merge_task<Backend>(from, from + half, from + half, from + n, into_other ? other : first);
}

struct mergesort {
  static constexpr std::size_t default_n = 4'000'000;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    const std::vector<std::uint32_t> input = random_numbers(c.n());
    std::vector<std::uint32_t> numbers, other(c.n());
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3, [&] { numbers = input; },
          [&] { mergesort_task<Backend>(numbers.data(), numbers.data() + numbers.size(), other.data(), false); },
          [&] { return digest_of(numbers); });
    });
  }
};

}  // namespace heddle::bench

// Parallel quicksort, in place: the unstable parallel sort. The first partitions run in parallel, too.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <vector>

#include <heddle/detail/sort_sequential.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>

namespace heddle::detail {

inline constexpr std::ptrdiff_t least_parallel_sort = 2048;  // about 50 us of the cheapest comparisons
inline constexpr std::ptrdiff_t least_parallel_partition = 32768;

// A parallel partition_blocks. First each chunk is partitioned by itself, which gives the common border. Then the
// elements on the wrong side of the border, as many in front of it as behind it, are exchanged. The first and the last
// step are parallel loops. Nothing but swaps happens, so that an exception leaves a permutation.
template <class Iterator, class Lower>
Iterator partition_parallel(Iterator first, Iterator last, unsigned workers, Lower&& lower, bool& moved) {
  struct chunk {
    std::ptrdiff_t begin, border, end;  // [begin, border) lower, [border, end) not
    bool moved;
  };
  const std::ptrdiff_t n = last - first;
  const auto count = std::min<std::ptrdiff_t>(std::ptrdiff_t{2} * workers, n / 4096);
  std::vector<chunk> chunks(static_cast<std::size_t>(count));
  parallel_for(
      std::ptrdiff_t{0}, count,
      [&](std::ptrdiff_t k) {
        chunk c{n / count * k + std::min(k, n % count), 0, 0, false};
        c.end = n / count * (k + 1) + std::min(k + 1, n % count);
        c.border = partition_blocks(first + c.begin, first + c.end, lower, c.moved) - first;
        chunks[static_cast<std::size_t>(k)] = c;
      },
      {.grain = 1, .bytes_per_iteration = static_cast<std::size_t>(n / count) * sizeof(std::iter_value_t<Iterator>)});
  std::ptrdiff_t border = 0;
  for (const chunk& c : chunks) border += c.border - c.begin;

  struct interval {
    std::ptrdiff_t begin, before;  // its position, and the number of misplaced elements in front of it
  };
  std::vector<interval> front, back;  // misplaced elements: not lower in front of the border, lower behind it
  std::ptrdiff_t in_front = 0, behind = 0;
  moved = false;
  for (const chunk& c : chunks) {
    moved = moved || c.moved;
    if (const std::ptrdiff_t end = std::min(c.end, border); c.border < end) {
      front.push_back({c.border, in_front});
      in_front += end - c.border;
    }
    if (const std::ptrdiff_t begin = std::max(c.begin, border); begin < c.border) {
      back.push_back({begin, behind});
      behind += c.border - begin;
    }
  }
  if (in_front == 0) return first + border;
  moved = true;
  front.push_back({0, in_front});  // marks the ends of the last intervals
  back.push_back({0, behind});
  const auto find = [](const std::vector<interval>& in, std::ptrdiff_t k) {
    return std::upper_bound(in.begin(), in.end(), k,
                            [](std::ptrdiff_t value, const interval& i) { return value < i.before; }) -
           1;
  };
  parallel_for_range(std::ptrdiff_t{0}, in_front,
                     [&](std::ptrdiff_t k, std::ptrdiff_t end) {
                       auto left = find(front, k), right = find(back, k);
                       while (k < end) {
                         const std::ptrdiff_t run = std::min({end, (left + 1)->before, (right + 1)->before});
                         Iterator a = first + left->begin + (k - left->before),
                                  b = first + right->begin + (k - right->before);
                         std::swap_ranges(a, a + (run - k), b);
                         k = run;
                         if (k == (left + 1)->before) ++left;
                         if (k == (right + 1)->before) ++right;
                       }
                     },
                     {.grain = 4096, .bytes_per_iteration = 2 * sizeof(std::iter_value_t<Iterator>)});
  return first + border;
}

// `workers` is the number of workers for this range; each fork halves it.
template <class Iterator, class Less>
void sort_parallel(Iterator first, Iterator last, Less& less, int unlucky, bool leftmost, unsigned workers) {
  for (;;) {
    const std::ptrdiff_t n = last - first;
    if (n < least_parallel_sort || unlucky == 0) return sort_sequential(first, last, less, unlucky, leftmost);
    const bool wide = workers > 1 && n >= least_parallel_partition;
    choose_pivot(first, last, less);
    bool moved;
    if (!leftmost && !less(*(first - 1), *first)) {
      const auto equal = [&](const auto& x) { return !less(*first, x); };
      first = wide ? partition_parallel(first + 1, last, workers, equal, moved)
                   : partition_blocks(first + 1, last, equal, moved);
      continue;
    }
    const auto lower = [&](const auto& x) { return less(x, *first); };
    const Iterator end = wide ? partition_parallel(first + 1, last, workers, lower, moved)
                              : partition_blocks(first + 1, last, lower, moved);
    const Iterator pivot = end - 1;
    std::iter_swap(first, pivot);
    if (std::min(pivot - first, last - pivot) < n / 8) {
      --unlucky;
      break_pattern(first, pivot);
      break_pattern(pivot + 1, last);
    } else if (!moved && sort_if_nearly_sorted(first, pivot, less) && sort_if_nearly_sorted(pivot + 1, last, less)) {
      return;
    }
    if (pivot - first < least_parallel_sort) {  // not worth a fork
      sort_sequential(first, pivot, less, unlucky, leftmost);
      first = pivot + 1;
      leftmost = false;
      continue;
    }
    const unsigned half = (workers + 1) / 2;
    const work_hint hint{static_cast<double>(pivot - first), static_cast<double>(last - pivot),
                         static_cast<std::size_t>(n) * sizeof(std::iter_value_t<Iterator>)};
    return parallel_invoke(
        hint, [=, &less] { sort_parallel(first, pivot, less, unlucky, leftmost, half); },
        [=, &less] { sort_parallel(pivot + 1, last, less, unlucky, false, half); });
  }
}

}  // namespace heddle::detail

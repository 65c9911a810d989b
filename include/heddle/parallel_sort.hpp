/// Sorting.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include <heddle/detail/foreign.hpp>
#include <heddle/detail/loop_tree.hpp>
#include <heddle/detail/merge_sort.hpp>
#include <heddle/detail/sort_parallel.hpp>
#include <heddle/detail/sort_sequential.hpp>

namespace heddle {

/// Sorts by `less`, a strict weak order. Equal elements may change their order. The sort is in place; elements are
/// moved and swapped, never copied, and moves must not throw. It makes at most O(n log n) comparisons, and O(n) when
/// the input is sorted, reversed or all equal. `less` may be called on any thread of the runtime, on several at a time.
///
/// An exception of `less` reaches the caller once all parts under way have ended. The range then holds a permutation of
/// its elements. Thread context: any; may suspend and migrate a user-level thread. A foreign kernel thread sorts short
/// ranges by itself. For others it takes the place of a worker that sleeps, or hands the sort over and sleeps until it
/// has ended.
/// Source: Hoare, "Quicksort" (1962), with partitions in parallel; details in detail/sort_*.hpp.
template <std::random_access_iterator Iterator, class Less = std::less<>>
  requires std::indirect_strict_weak_order<Less&, Iterator>
void parallel_sort(Iterator first, Iterator last, Less less = {}) {
  const std::ptrdiff_t n = last - first;
  if (detail::sort_monotone(first, last, less)) return;
  const int unlucky = detail::unlucky_pivots_allowed(n);
  if (n < detail::least_parallel_sort) return detail::sort_sequential(first, last, less, unlucky, true);
  const auto sort = [&] { detail::sort_parallel(first, last, less, unlucky, true, detail::loop_begin().workers); };
  if (detail::on_foreign_thread()) return detail::run_in_runtime(sort);
  sort();
}

/// Does the same with a whole range.
template <std::ranges::random_access_range Range, class Less = std::less<>>
  requires std::indirect_strict_weak_order<Less&, std::ranges::iterator_t<Range>>
void parallel_sort(Range&& range, Less less = {}) {
  const auto first = std::ranges::begin(range);
  parallel_sort(first, first + std::ranges::distance(range), std::move(less));
}

/// Sorts by `less` and keeps the order of equal elements. Needs memory for as many elements as it sorts (std::bad_alloc
/// before anything has changed). Elements are moved, never copied, and moves must not throw. It makes at most n log2 n
/// comparisons, and a few more to cut merges in two. Exceptions of `less`, suspension and thread context are those of
/// parallel_sort. After an exception all elements are there, in any order.
/// Source: merge sort; details in detail/merge_sort.hpp.
template <std::random_access_iterator Iterator, class Less = std::less<>>
  requires std::indirect_strict_weak_order<Less&, Iterator>
void parallel_stable_sort(Iterator first, Iterator last, Less less = {}) {
  const std::ptrdiff_t n = last - first;
  if (n <= detail::insertion_limit) return detail::insertion_sort(first, last, less);
  const auto sort = [&] {
    detail::merge_buffer<std::iter_value_t<Iterator>> buffer(static_cast<std::size_t>(n));
    buffer.construct(first);
    detail::merge_sort(buffer.begin(), buffer.end(), first, true, less);
  };
  if (detail::on_foreign_thread()) return detail::run_in_runtime(sort);
  sort();
}

/// Does the same with a whole range.
template <std::ranges::random_access_range Range, class Less = std::less<>>
  requires std::indirect_strict_weak_order<Less&, std::ranges::iterator_t<Range>>
void parallel_stable_sort(Range&& range, Less less = {}) {
  const auto first = std::ranges::begin(range);
  parallel_stable_sort(first, first + std::ranges::distance(range), std::move(less));
}

}  // namespace heddle

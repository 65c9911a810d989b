// In-place sorting of a range by one thread. Unlike std::sort it leaves a permutation of its input when the comparison
// throws: an element that is held in a local variable while user code runs is put back by a guard (lifted).
// Source: Musser, "Introspective sorting" (1997); the treatment of equal, sorted and unbalanced inputs follows Peters,
// "Pattern-defeating quicksort" (2021).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

namespace heddle::detail {

inline constexpr std::ptrdiff_t insertion_limit = 24;

// An element taken out of its place, with the hole to which it is always returned.
template <class Iterator>
struct lifted {
  explicit lifted(Iterator from) : value(std::move(*from)), hole(from) {}
  lifted(const lifted&) = delete;
  lifted& operator=(const lifted&) = delete;
  ~lifted() { *hole = std::move(value); }
  void shift_from(Iterator from) {
    *hole = std::move(*from);
    hole = from;
  }
  std::iter_value_t<Iterator> value;
  Iterator hole;
};

template <class Iterator, class Less>
void insertion_sort(Iterator first, Iterator last, Less& less) {
  if (first == last) return;
  for (Iterator at = first + 1; at != last; ++at) {
    if (!less(*at, *(at - 1))) continue;
    lifted<Iterator> moving(at);
    moving.shift_from(at - 1);
    while (moving.hole != first && less(moving.value, *(moving.hole - 1))) moving.shift_from(moving.hole - 1);
  }
}

// Insertion sort that gives up after a few moves. Returns true if it sorted the range.
template <class Iterator, class Less>
bool sort_if_nearly_sorted(Iterator first, Iterator last, Less& less) {
  if (first == last) return true;
  std::ptrdiff_t moves = 0;
  for (Iterator at = first + 1; at != last; ++at) {
    if (!less(*at, *(at - 1))) continue;
    lifted<Iterator> moving(at);
    moving.shift_from(at - 1);
    while (moving.hole != first && less(moving.value, *(moving.hole - 1))) moving.shift_from(moving.hole - 1);
    moves += at - moving.hole;
    if (moves > 8) return false;
  }
  return true;
}

template <class Iterator, class Less>
void heap_sort(Iterator first, Iterator last, Less& less) {
  const auto sink = [&](std::ptrdiff_t at, std::ptrdiff_t count) {
    for (std::ptrdiff_t child; (child = 2 * at + 1) < count; at = child) {
      if (child + 1 < count && less(first[child], first[child + 1])) ++child;
      if (!less(first[at], first[child])) return;
      std::iter_swap(first + at, first + child);
    }
  };
  const std::ptrdiff_t count = last - first;
  for (std::ptrdiff_t at = count / 2; at-- > 0;) sink(at, count);
  for (std::ptrdiff_t end = count - 1; end > 0; --end) {
    std::iter_swap(first, first + end);
    sink(0, end);
  }
}

template <class Iterator, class Less>
void sort_three(Iterator a, Iterator b, Iterator c, Less& less) {
  if (less(*b, *a)) std::iter_swap(a, b);
  if (less(*c, *b)) std::iter_swap(b, c);
  if (less(*b, *a)) std::iter_swap(a, b);
}

// Brings a pivot to *first: the median of three elements, or of nine when the range is long.
template <class Iterator, class Less>
void choose_pivot(Iterator first, Iterator last, Less& less) {
  const std::ptrdiff_t n = last - first;
  Iterator middle = first + n / 2;
  if (n > 128) {
    sort_three(first, middle, last - 1, less);
    sort_three(first + 1, middle - 1, last - 2, less);
    sort_three(first + 2, middle + 1, last - 3, less);
    sort_three(middle - 1, middle, middle + 1, less);
    std::iter_swap(first, middle);
  } else {
    sort_three(middle, first, last - 1, less);
  }
}

// The number of elements in a block. The elements of a block are first compared with the pivot and then exchanged. So
// the outcomes of the comparisons are data; half of them would be mispredicted if they were branches.
// Source: Edelkamp, Weiss, "BlockQuicksort" (2016).
inline constexpr std::ptrdiff_t partition_block = 64;

// Moves the elements of [first, last) for which `lower` holds to the front, and returns their end. Sets `moved` if any
// element moved.
template <class Iterator, class Lower>
Iterator partition_blocks(Iterator first, Iterator last, Lower&& lower, bool& moved) {
  moved = false;
  while (first != last && lower(*first)) ++first;
  while (first != last && !lower(*(last - 1))) --last;
  if (first == last) return first;
  moved = true;
  std::iter_swap(first, last - 1);
  ++first, --last;

  unsigned char left[partition_block], right[partition_block];  // offsets of the elements on the wrong side
  std::ptrdiff_t left_count = 0, right_count = 0, left_at = 0, right_at = 0;
  while (last - first > 2 * partition_block) {
    if (left_count == 0) {
      left_at = 0;
      for (std::ptrdiff_t i = 0; i < partition_block; ++i) {
        left[left_count] = static_cast<unsigned char>(i);
        left_count += lower(first[i]) ? 0 : 1;
      }
    }
    if (right_count == 0) {
      right_at = 0;
      for (std::ptrdiff_t i = 0; i < partition_block; ++i) {
        right[right_count] = static_cast<unsigned char>(i);
        right_count += lower(last[-1 - i]) ? 1 : 0;
      }
    }
    const std::ptrdiff_t count = std::min(left_count, right_count);
    for (std::ptrdiff_t i = 0; i < count; ++i)
      std::iter_swap(first + left[left_at + i], last - 1 - right[right_at + i]);
    left_at += count, left_count -= count;
    right_at += count, right_count -= count;
    if (left_count == 0) first += partition_block;
    if (right_count == 0) last -= partition_block;
  }
  // Handles the rest, a few hundred elements at most. Some of them are compared again.
  for (;;) {
    while (first != last && lower(*first)) ++first;
    while (first != last && !lower(*(last - 1))) --last;
    if (first == last) return first;
    std::iter_swap(first, last - 1);
    ++first, --last;
  }
}

template <class Iterator>
struct sort_cut {
  Iterator pivot;  // no element in front is greater, none behind is less
  bool moved;      // true if the partition moved an element
};

// Partitions by the pivot at *first: elements that are less go in front of it, the others behind it.
template <class Iterator, class Less>
sort_cut<Iterator> cut(Iterator first, Iterator last, Less& less) {
  bool moved;
  Iterator end = partition_blocks(first + 1, last, [&](const auto& x) { return less(x, *first); }, moved);
  std::iter_swap(first, end - 1);
  return {end - 1, moved};
}

// Moves all elements equal to the pivot at *first to the front and returns their end. No element of the range may be
// less than the pivot.
template <class Iterator, class Less>
Iterator cut_equal(Iterator first, Iterator last, Less& less) {
  bool moved;
  return partition_blocks(first + 1, last, [&](const auto& x) { return !less(*first, x); }, moved);
}

// Exchanges a few elements of a part that an unlucky pivot left, so that the next pivots come from other places.
template <class Iterator>
void break_pattern(Iterator first, Iterator last) {
  const std::ptrdiff_t n = last - first;
  if (n < insertion_limit) return;
  for (std::ptrdiff_t i = 0; i < 3; ++i) {
    std::iter_swap(first + i, first + n / 4 + i);
    std::iter_swap(last - 1 - i, last - 1 - n / 4 - i);
  }
}

// Sorts a range that is sorted or strictly falling as a whole, and returns true. Any other range costs a few
// comparisons.
template <class Iterator, class Less>
bool sort_monotone(Iterator first, Iterator last, Less& less) {
  if (last - first < 2) return true;
  const bool falling = less(*(first + 1), *first);
  for (Iterator at = first + 1; at + 1 != last; ++at) {
    if (less(*(at + 1), *at) != falling) return false;
  }
  if (falling) std::reverse(first, last);
  return true;
}

inline int unlucky_pivots_allowed(std::ptrdiff_t n) noexcept {
  return static_cast<int>(std::bit_width(static_cast<std::size_t>(n)));
}

// If `leftmost` is true, nothing stands in front of the range. Otherwise the element in front is not greater than any
// in it.
template <class Iterator, class Less>
void sort_sequential(Iterator first, Iterator last, Less& less, int unlucky, bool leftmost) {
  for (;;) {
    const std::ptrdiff_t n = last - first;
    if (n <= insertion_limit) return insertion_sort(first, last, less);
    if (unlucky == 0) return heap_sort(first, last, less);
    choose_pivot(first, last, less);
    if (!leftmost && !less(*(first - 1), *first)) {  // the pivot is the least of the range, and so are all elements
                                                     // equal to it
      first = cut_equal(first, last, less);
      continue;
    }
    const auto [pivot, moved] = cut(first, last, less);
    const std::ptrdiff_t lower = pivot - first, upper = last - pivot - 1;
    if (std::min(lower, upper) < n / 8) {
      --unlucky;
      break_pattern(first, pivot);
      break_pattern(pivot + 1, last);
    } else if (!moved && sort_if_nearly_sorted(first, pivot, less) && sort_if_nearly_sorted(pivot + 1, last, less)) {
      return;
    }
    sort_sequential(first, pivot, less, unlucky, leftmost);
    first = pivot + 1;
    leftmost = false;
  }
}

}  // namespace heddle::detail

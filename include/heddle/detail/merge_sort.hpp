// Parallel merge sort with a parallel merge: the stable parallel sort. Every element is at any time in exactly one live
// object of the range or the buffer, also when a comparison throws: a merge that fails still moves everything where it
// would have gone, unsorted.
// Source: Cormen et al., "Introduction to Algorithms", 3rd ed., 27.3 (the merge).
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <heddle/detail/sort_sequential.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>

namespace heddle::detail {

inline constexpr std::ptrdiff_t least_parallel_merge = 4096;

// Moves both runs to `to`, merged. On an exception everything is moved all the same.
template <class From, class To, class Less>
void merge_sequential(From a, From a_end, From b, From b_end, To to, Less& less) {
  struct remainder {                 // moves what is left, in both outcomes
    From &a, a_end, &b, b_end;
    To& to;
    ~remainder() { std::move(b, b_end, std::move(a, a_end, to)); }
  } rest{a, a_end, b, b_end, to};
  while (a != a_end && b != b_end) {
    if (less(*b, *a)) {
      *to = std::move(*b);
      ++b;
    } else {
      *to = std::move(*a);
      ++a;
    }
    ++to;
  }
}

template <class From, class To, class Less>
void merge_parallel(From a, From a_end, From b, From b_end, To to, Less& less) {
  const std::ptrdiff_t left = a_end - a, right = b_end - b;
  if (left + right < 2 * least_parallel_merge) return merge_sequential(a, a_end, b, b_end, to, less);
  From a_cut = a, b_cut = b;
  try {
    // Equal elements of b stay behind those of a.
    if (left >= right) {
      a_cut = a + left / 2;
      b_cut = std::lower_bound(b, b_end, *a_cut, less);
    } else {
      b_cut = b + right / 2;
      a_cut = std::upper_bound(a, a_end, *b_cut, less);
    }
  } catch (...) {
    std::move(b, b_end, std::move(a, a_end, to));
    throw;
  }
  const To to_cut = to + (a_cut - a) + (b_cut - b);
  // parallel_invoke drops a second half that has not begun when the first one throws; its elements must move even so.
  bool second = false;
  struct mover {
    const bool& done;
    From a, a_end, b, b_end;
    To to;
    ~mover() {
      if (!done) std::move(b, b_end, std::move(a, a_end, to));
    }
  } otherwise{second, a_cut, a_end, b_cut, b_end, to_cut};
  parallel_invoke([&] { merge_parallel(a, a_cut, b, b_cut, to, less); },
                  [&] {
                    second = true;
                    merge_parallel(a_cut, a_end, b_cut, b_end, to_cut, less);
                  });
}

// Sorts [first, last), whose elements are in the range or, when `away` is set, shall end up in the buffer: at the end
// they are in `buffer` if away, in the range otherwise. All objects of both are alive.
template <class Iterator, class T, class Less>
void merge_sort(Iterator first, Iterator last, T* buffer, bool away, Less& less) {
  const std::ptrdiff_t n = last - first;
  if (n <= insertion_limit) {
    struct mover {
      Iterator first, last;
      T* buffer;
      bool away;
      ~mover() {
        if (away) std::move(first, last, buffer);
      }
    } then{first, last, buffer, away};
    return insertion_sort(first, last, less);
  }
  const Iterator middle = first + n / 2;
  T* const cut = buffer + n / 2;
  struct gatherer {                  // a half that threw or was dropped is where it should not be: bring everything home
    Iterator first, middle, last;
    T *buffer, *cut;
    bool away;
    bool lower_moved = false, upper_moved = false, merged = false;
    ~gatherer() {
      if (merged) return;
      // Halves that ran moved their elements to the other side of where the merge was to put them, even when they threw.
      if (away) {
        if (!lower_moved) std::move(first, middle, buffer); else std::move(first, middle, buffer);
        std::move(middle, last, cut);
      } else {
        if (lower_moved) std::move(buffer, cut, first);
        if (upper_moved) std::move(cut, cut + (last - middle), middle);
      }
    }
  } gather{first, middle, last, buffer, cut, away};
  const auto lower = [&] {
    gather.lower_moved = true;
    merge_sort(first, middle, buffer, !away, less);
  };
  const auto upper = [&] {
    gather.upper_moved = true;
    merge_sort(middle, last, cut, !away, less);
  };
  if (n < least_parallel_merge) {
    lower();
    upper();
  } else {
    parallel_invoke(lower, upper);
  }
  gather.merged = true;
  T* const end = buffer + n;
  if (away) {
    if (!less(*middle, *(middle - 1))) std::move(first, last, buffer);
    else merge_parallel(first, middle, middle, last, buffer, less);
  } else {
    merge_parallel(buffer, cut, cut, end, first, less);
  }
}

}  // namespace heddle::detail

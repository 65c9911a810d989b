// Parallel merge sort with a parallel merge: the stable parallel sort. At any time every element is in exactly one live
// object of the range or the buffer, also when a comparison throws. A merge that fails still moves every element to
// where it would have gone, unsorted.
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

// Moves both runs to `to`, merged. After an exception all elements have still been moved.
template <class From, class To, class Less>
void merge_sequential(From a, From a_end, From b, From b_end, To to, Less& less) {
  struct remainder {  // moves the rest, both at a normal end and after an exception
    From &a, a_end, &b, b_end;
    To& to;
    ~remainder() { std::move(b, b_end, std::move(a, a_end, to)); }
  } rest{a, a_end, b, b_end, to};
  if constexpr (std::is_trivially_copyable_v<std::iter_value_t<From>> && sizeof(std::iter_value_t<From>) <= 16) {
    // The outcome of the comparison is used as data, because a branch on it would be mispredicted every other time.
    while (a != a_end && b != b_end) {
      const bool second = less(*b, *a);
      *to = second ? *b : *a;
      b += second;
      a += !second;
      ++to;
    }
    return;
  }
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
  // parallel_invoke drops a second half that has not begun when the first half throws. Its elements must still be
  // moved.
  bool second = false;
  struct mover {
    const bool& done;
    From a, a_end, b, b_end;
    To to;
    ~mover() {
      if (!done) std::move(b, b_end, std::move(a, a_end, to));
    }
  } otherwise{second, a_cut, a_end, b_cut, b_end, to_cut};
  const work_hint hint{static_cast<double>(to_cut - to), static_cast<double>(left + right - (to_cut - to)),
                       2 * static_cast<std::size_t>(left + right) * sizeof(std::iter_value_t<From>)};
  parallel_invoke(
      hint, [&] { merge_parallel(a, a_cut, b, b_cut, to, less); },
      [&] {
        second = true;
        merge_parallel(a_cut, a_end, b_cut, b_end, to_cut, less);
      });
}

// Sorts the elements of [first, last). At the end, also after an exception, they are at `other` if `away` is true, and
// otherwise in the range. Objects are alive in both places.
template <class Home, class Other, class Less>
void merge_sort(Home first, Home last, Other other, bool away, Less& less) {
  const std::ptrdiff_t n = last - first;
  if (n <= insertion_limit) {
    struct mover {
      Home first, last;
      Other other;
      bool away;
      ~mover() {
        if (away) std::move(first, last, other);
      }
    } at_the_end{first, last, other, away};
    return insertion_sort(first, last, less);
  }
  const std::ptrdiff_t half = n / 2;
  // Each half is sorted into the place that the merge reads from. If one half throws, the elements on the wrong side
  // are brought back; a half that parallel_invoke dropped has not moved.
  struct gatherer {
    Home first, last;
    Other other;
    std::ptrdiff_t half;
    bool away;
    bool lower_ran = false, upper_ran = false, sorted = false;
    ~gatherer() {
      if (sorted) return;
      if (away) std::move(first, last, other);
      if (!away && lower_ran) std::move(other, other + half, first);
      if (!away && upper_ran) std::move(other + half, other + (last - first), first + half);
    }
  } gather{first, last, other, half, away};
  const auto lower = [&] {
    gather.lower_ran = true;
    merge_sort(first, first + half, other, !gather.away, less);
  };
  const auto upper = [&] {
    gather.upper_ran = true;
    merge_sort(first + half, last, other + half, !gather.away, less);
  };
  if (n < least_parallel_merge) {
    lower();
    upper();
  } else {
    parallel_invoke(work_hint{static_cast<double>(half), static_cast<double>(n - half),
                              2 * static_cast<std::size_t>(n) * sizeof(std::iter_value_t<Home>)},
                    lower, upper);
  }
  const bool in_order = away ? !less(first[half], first[half - 1]) : !less(other[half], other[half - 1]);
  gather.sorted = true;
  if (away && in_order) std::move(first, last, other);
  else if (away) merge_parallel(first, first + half, first + half, last, other, less);
  else if (in_order) std::move(other, other + n, first);
  else merge_parallel(other, other + half, other + half, other + n, first, less);
}

// Memory for n objects of T. The objects are alive from construct() until the end.
template <class T>
class merge_buffer {
 public:
  explicit merge_buffer(std::size_t n) : n_(n), memory_(std::allocator<T>().allocate(n)) {}
  merge_buffer(const merge_buffer&) = delete;
  merge_buffer& operator=(const merge_buffer&) = delete;
  ~merge_buffer() {
    if (alive_ && !std::is_trivially_destructible_v<T>) {
      parallel_for_range(memory_, memory_ + n_, [](T* low, T* high) noexcept { std::destroy(low, high); });
    }
    std::allocator<T>().deallocate(memory_, n_);
  }
  template <class Iterator>
  void construct(Iterator from) {
    parallel_for_range(std::size_t{0}, n_,
                       [this, from](std::size_t low, std::size_t high) noexcept {
                         using step = std::iter_difference_t<Iterator>;
                         std::uninitialized_move(from + static_cast<step>(low), from + static_cast<step>(high),
                                                 memory_ + low);
                       },
                       {.bytes_per_iteration = 2 * sizeof(T)});
    alive_ = true;
  }
  T* begin() const noexcept { return memory_; }
  T* end() const noexcept { return memory_ + n_; }

 private:
  const std::size_t n_;
  T* const memory_;
  bool alive_{false};
};

}  // namespace heddle::detail

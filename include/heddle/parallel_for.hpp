/// Parallel loops over indices, iterators and ranges.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <heddle/detail/loop_named.hpp>
#include <heddle/detail/loop_tree.hpp>
#include <heddle/loop_options.hpp>

namespace heddle {
namespace detail {

template <class T>
concept loop_integer = std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool>;

// The type that a loop from `First` to `Last` counts in.
template <class First, class Last>
struct loop_index_type {};
template <loop_integer First, loop_integer Last>
struct loop_index_type<First, Last> {
  using type = std::common_type_t<First, Last>;
};
template <std::random_access_iterator First>
struct loop_index_type<First, First> {
  using type = First;
};
template <class First, class Last>
using loop_index = typename loop_index_type<First, Last>::type;

// The positions between two bounds: their number, and the k-th of them.
template <class Index>
class loop_positions {
 public:
  template <class First, class Last>
  loop_positions(First first, Last last) : first_(static_cast<Index>(first)) {
    if constexpr (std::is_integral_v<Index>) {
      if (!std::cmp_less(+first, +last)) return;  // + promotes: cmp_less does not take characters
      if constexpr (!std::is_same_v<First, Last>) {
        if (!std::in_range<Index>(+first) || !std::in_range<Index>(+last)) {
          throw std::out_of_range("heddle: a bound of a loop does not fit the type that the loop counts in");
        }
      }
      count_ = static_cast<std::size_t>(static_cast<wide>(static_cast<Index>(last))) -
               static_cast<std::size_t>(static_cast<wide>(first_));
    } else if (first < last) {
      count_ = static_cast<std::size_t>(last - first);
    }
  }
  std::size_t count() const noexcept { return count_; }
  Index operator[](std::size_t k) const {
    if constexpr (std::is_integral_v<Index>)
      return static_cast<Index>(static_cast<std::size_t>(static_cast<wide>(first_)) + k);
    else return first_ + static_cast<std::iter_difference_t<Index>>(k);
  }

 private:
  // The difference of two signed bounds may not fit their type. Taken modulo 2^64 it has the same value and fits.
  using wide = std::conditional_t<std::is_integral_v<Index>, std::ptrdiff_t, char>;
  Index first_;
  std::size_t count_{0};
};

// Returns the bytes of an iteration that policies are told: the caller's value, or else, in a loop over elements, the
// size of an element.
template <class Index>
std::size_t bytes_of_iteration(const loop_options& options) noexcept {
  if (options.bytes_per_iteration != 0) return options.bytes_per_iteration;
  if constexpr (std::is_integral_v<Index>) return 0;
  else return sizeof(std::iter_value_t<Index>);
}

// Calls body(low, high) on each chunk.
template <class Index, class Body>
struct chunk_work {
  using result = nothing_returned;
  static constexpr bool in_any_order = true;
  const loop_positions<Index>& at;
  Body& body;
  void operator()(result&, std::size_t low, std::size_t high) { body(at[low], at[high]); }
  static result combine(result, result) noexcept { return {}; }
  static result nothing() noexcept { return {}; }
};

template <class Index, class F>
[[gnu::always_inline]] inline void call_each(F& f, Index low, Index high) {
  if constexpr (std::is_integral_v<Index>) {
    for (Index i = low; i != high; ++i) f(i);
  } else {
    for (Index i = low; i != high; ++i) f(*i);
  }
}

}  // namespace detail

/// Calls body(low, high) on chunks that cover [first, last) once, possibly in parallel. The bounds are integers of any
/// types, or random access iterators. Integer loops count in the bounds' common type; std::out_of_range is thrown if a
/// bound does not fit it. An empty or reversed range does nothing. Chunks may run in any order, on any thread of the
/// runtime. The body may wait for anything but a later iteration of its own chunk.
///
/// When chunks throw, those that have not begun are dropped. One of the exceptions is thrown here once all chunks that
/// had begun have ended. Thread context: any; may suspend and migrate a user-level thread. A foreign kernel thread
/// takes the place of a worker that sleeps. If none sleeps, it hands the loop over and sleeps until the loop has ended.
template <class First, class Last, class Body>
  requires std::invocable<Body&, detail::loop_index<First, Last>, detail::loop_index<First, Last>>
void parallel_for_range(First first, Last last, Body&& body, const loop_options& options = {}) {
  using index = detail::loop_index<First, Last>;
  using callable = std::remove_reference_t<Body>;
  const detail::loop_positions<index> at(first, last);
  if (at.count() == 0) return;
  detail::chunk_work<index, callable> work{at, body};
  if (options.schedule.how != loop_schedule::kind::adaptive) {
    return detail::run_by_name(work, at.count(), options.schedule, options.stop,
                               detail::bytes_of_iteration<index>(options));
  }
  detail::run_loop(work, at.count(), detail::loop_site_of<detail::chunk_work<index, callable>>, options.grain,
                   options.stop, detail::bytes_of_iteration<index>(options));
}

/// Calls f(i) for each integer i of [first, last), or f(*i) for each iterator. Otherwise it is like parallel_for_range.
template <class First, class Last, class F>
  requires requires { typename detail::loop_index<First, Last>; }
void parallel_for(First first, Last last, F&& f, const loop_options& options = {}) {
  using index = detail::loop_index<First, Last>;
  using callable = std::remove_reference_t<F>;
  // A local copy of a small closure stays in registers during the loop, because nothing that f writes can change it.
  constexpr bool copied = std::is_trivially_copyable_v<callable> && sizeof(callable) <= 64 && [] {
    if constexpr (std::is_integral_v<index>) return std::is_invocable_v<const callable&, index>;
    else return std::is_invocable_v<const callable&, std::iter_reference_t<index>>;
  }();
  auto chunk = [&f](index low, index high) {
    if constexpr (copied) {
      const callable mine = f;
      detail::call_each(mine, low, high);
    } else {
      detail::call_each(f, low, high);
    }
  };
  parallel_for_range(first, last, chunk, options);
}

/// Calls f on each element of a random access range.
template <std::ranges::random_access_range Range, class F>
  requires std::invocable<F&, std::ranges::range_reference_t<Range>>
void parallel_for(Range&& range, F&& f, const loop_options& options = {}) {
  const auto first = std::ranges::begin(range);
  parallel_for(first, first + static_cast<std::ranges::range_difference_t<Range>>(std::ranges::distance(range)),
               std::forward<F>(f), options);
}

}  // namespace heddle

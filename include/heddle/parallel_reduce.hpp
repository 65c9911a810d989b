/// Reductions over indices and iterators.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include <heddle/detail/loop_tree.hpp>
#include <heddle/loop_options.hpp>
#include <heddle/parallel_for.hpp>

namespace heddle {
namespace detail {

// The type of the mapping's argument at a position.
template <class Index>
struct loop_argument {
  using type = std::iter_reference_t<Index>;
};
template <loop_integer Index>
struct loop_argument<Index> {
  using type = Index;
};
template <class Index>
using loop_argument_t = typename loop_argument<Index>::type;

template <class Index>
[[gnu::always_inline]] inline decltype(auto) loop_value(Index i) {
  if constexpr (std::is_integral_v<Index>) return i;
  else return *i;
}

template <class Index, class T, class Map, class Combine>
struct reduce_work {
  using result = T;
  const loop_positions<Index>& at;
  const T& identity;
  Map& map;
  Combine& join;
  void operator()(T& total, std::size_t low, std::size_t high) {
    const Index end = at[high];
    // A local variable cannot be written by another thread, so it may stay in a register.
    T sum = std::move(total);
    for (Index i = at[low]; i != end; ++i) sum = join(std::move(sum), map(loop_value(i)));
    total = std::move(sum);
  }
  T combine(T low, T high) { return join(std::move(low), std::move(high)); }
  T nothing() { return identity; }
};

// Returns the grain of a deterministic reduction. It depends on the length alone, and gives enough chunks to keep any
// machine busy.
inline std::size_t fixed_grain(std::size_t n) noexcept { return std::max<std::size_t>(n / 512, 1); }

}  // namespace detail

/// Combines the identity and map(i) for each integer i of [first, last), or map(*i) for each iterator, in order of i.
/// `combine` must be associative but need not be commutative, and combine(identity, x) must equal x. The schedule
/// decides how often the identity enters and how the values are bracketed, unless options.deterministic is set. T is
/// copied from `identity` and otherwise moved. Both callables may run on any thread of the runtime, several at a time.
/// Partial results lie on the stack, a few for each halving of the range, so keep large ones (a histogram of some KiB)
/// in memory of their own, for example in a std::vector.
///
/// An empty or reversed range gives `identity`. Exceptions, suspension and thread context are those of
/// parallel_for_range.
template <class First, class Last, class T, class Map, class Combine>
  requires std::invocable<Map&, detail::loop_argument_t<detail::loop_index<First, Last>>>
T parallel_reduce(First first, Last last, T identity, Map map, Combine combine, const reduce_options& options = {}) {
  using index = detail::loop_index<First, Last>;
  using work_type = detail::reduce_work<index, T, Map, Combine>;
  const detail::loop_positions<index> at(first, last);
  if (at.count() == 0) return identity;
  work_type work{at, identity, map, combine};
  const std::size_t grain =
      options.grain == 0 && options.deterministic ? detail::fixed_grain(at.count()) : options.grain;
  return detail::run_loop(work, at.count(), detail::loop_site_of<work_type>, grain, options.stop,
                          detail::bytes_of_iteration<index>({}));
}

/// Does the same without a mapping: combines the identity and the elements themselves, in order.
template <std::random_access_iterator Iterator, class T, class Combine>
  requires std::invocable<Combine&, T, std::iter_reference_t<Iterator>>
T parallel_reduce(Iterator first, Iterator last, T identity, Combine combine, const reduce_options& options = {}) {
  return parallel_reduce(
      first, last, std::move(identity), [](auto&& x) -> decltype(auto) { return std::forward<decltype(x)>(x); },
      std::move(combine), options);
}

}  // namespace heddle

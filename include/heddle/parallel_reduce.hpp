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

// What the mapping of a reduction is called with at a position.
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
    T sum = std::move(total);  // a local variable, which no other thread can write: it may stay in a register
    for (Index i = at[low]; i != end; ++i) sum = join(std::move(sum), map(loop_value(i)));
    total = std::move(sum);
  }
  T combine(T low, T high) { return join(std::move(low), std::move(high)); }
  T nothing() { return identity; }
};

// The grain of a deterministic reduction: by the length alone, and for as many chunks as keep any machine busy.
inline std::size_t fixed_grain(std::size_t n) noexcept { return std::max<std::size_t>(n / 512, 1); }

}  // namespace detail

/// combine of identity and map(i) for each integer i of [first, last), or map(*i) for each iterator, in order of i.
/// `combine` must be associative, need not be commutative, and combine(identity, x) must equal x: how often the
/// identity enters, and how the values are bracketed, depends on the schedule unless options.deterministic is set. T is
/// copied from `identity`, moved otherwise. Both callables may run on any thread of the runtime, several at a time.
/// Partial results are on the stack, a few for each halving of the range: keep large ones (a histogram of some KiB) in
/// memory of their own, a std::vector for example.
///
/// An empty or reversed range gives `identity`. Exceptions, suspension, callers: as parallel_for_range.
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

/// The same without a mapping: combines identity and the elements themselves, in order.
template <std::random_access_iterator Iterator, class T, class Combine>
  requires std::invocable<Combine&, T, std::iter_reference_t<Iterator>>
T parallel_reduce(Iterator first, Iterator last, T identity, Combine combine, const reduce_options& options = {}) {
  return parallel_reduce(
      first, last, std::move(identity), [](auto&& x) -> decltype(auto) { return std::forward<decltype(x)>(x); },
      std::move(combine), options);
}

}  // namespace heddle

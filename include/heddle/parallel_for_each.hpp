/// Parallel loops over ranges that can only be walked: lists, maps, and all others with forward iterators.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include <heddle/detail/foreign.hpp>
#include <heddle/detail/fork_queue.hpp>
#include <heddle/loop_options.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/task_group.hpp>

namespace heddle {
namespace detail {

// Walks the range once and passes on blocks of it. Each block is a loop of its own.
template <class It, class Last, class F>
void walk_and_share(It first, Last last, F& f, const loop_options& options) {
  // The first blocks are short, so that other workers soon have something to do. A block costs an allocation and a
  // child.
  constexpr std::size_t shortest = 16, longest = 512;
  const auto run_block = [&f, &options](std::vector<It>& block) {
    parallel_for(block.begin(), block.end(), [&f](const It& it) { f(*it); }, options);
  };
  task_group others(options.stop);
  std::vector<It> block;
  for (std::size_t room = shortest; first != last && !others.is_cancelled(); room = std::min(2 * room, longest)) {
    block.reserve(room);
    for (; first != last && block.size() < room; ++first) block.push_back(first);
    if (first != last) {
      others.run([run_block, mine = std::move(block)]() mutable { run_block(mine); });
      block = {};
    }
  }
  others.run_and_wait([&] { run_block(block); });
}

}  // namespace detail

/// Calls f(*it) for each iterator of [first, last), possibly in parallel and in any order. The caller walks iterators
/// that are not random access once, while other workers run f on those that it has passed. So such a loop gains only if
/// f takes longer than a step. The range must not change meanwhile.
///
/// Exceptions, stops and thread context are those of parallel_for_range; an exception also ends the walk. Throws
/// std::bad_alloc.
template <std::forward_iterator It, std::sentinel_for<It> Last, class F>
  requires std::invocable<F&, std::iter_reference_t<It>>
void parallel_for_each(It first, Last last, F&& f, const loop_options& options = {}) {
  if constexpr (std::random_access_iterator<It> && std::sized_sentinel_for<Last, It>) {
    parallel_for(first, first + (last - first), std::forward<F>(f), options);
  } else {
    if (first == last) return;
    const auto all = [&] { detail::walk_and_share(first, last, f, options); };
    if (detail::current_queue() == nullptr) detail::run_in_runtime(all);
    else all();
  }
}

/// Calls f on each element of a range.
template <std::ranges::forward_range Range, class F>
  requires std::invocable<F&, std::ranges::range_reference_t<Range>>
void parallel_for_each(Range&& range, F&& f, const loop_options& options = {}) {
  parallel_for_each(std::ranges::begin(range), std::ranges::end(range), std::forward<F>(f), options);
}

}  // namespace heddle

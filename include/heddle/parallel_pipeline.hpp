/// Pipelines: items go through stages, one stage after the other, many items at a time.
#pragma once

#include <cstddef>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <heddle/detail/foreign.hpp>
#include <heddle/detail/fork_queue.hpp>
#include <heddle/detail/pipeline.hpp>
#include <heddle/runtime.hpp>

namespace heddle {
/// Stages of parallel_pipeline. `f` is copied or moved into the stage. It is called with the item that the stage before
/// has returned (as an rvalue if it takes one), and returns the item for the next stage. The first stage's function has
/// no argument and returns a std::optional, which is empty at the end. The result of the last stage is dropped.
namespace stage {

/// Runs one item at a time, in the order in which the first stage has returned the items.
template <class F>
auto serial_in_order(F&& f) {
  return detail::pipeline_stage<detail::stage_kind::serial_in_order, std::decay_t<F>>{std::forward<F>(f)};
}
/// Runs one item at a time, in the order in which the items come from the stage before.
template <class F>
auto serial_out_of_order(F&& f) {
  return detail::pipeline_stage<detail::stage_kind::serial_out_of_order, std::decay_t<F>>{std::forward<F>(f)};
}
/// Runs any number of items at a time, so `f` is called by several threads at once.
template <class F>
auto parallel(F&& f) {
  return detail::pipeline_stage<detail::stage_kind::parallel, std::decay_t<F>>{std::forward<F>(f)};
}

}  // namespace stage

struct pipeline_options {
  /// The largest number of items under way, from before the first stage's call to after the last one's. 0 means four
  /// for each worker. Memory for all of them is allocated at the beginning.
  std::size_t tokens{0};
  /// After a stop request no stage is called any more, and items under way are destroyed; the call returns normally.
  std::stop_token stop{};
};

/// Takes items from the first stage until it returns an empty std::optional, and takes each through all stages. Returns
/// when all items have passed the last stage. A thread that has an item takes it through as many stages as let it in,
/// so the item stays in a cache. Stages may wait for anything, and may contain loops, groups and pipelines of their
/// own.
///
/// When a stage throws, no stage is called any more and items under way are destroyed. One of the exceptions is thrown
/// here once all calls have ended. A serial source costs an item two atomic exchanges, and each other serial stage
/// costs one or two. Throws std::bad_alloc, before the first call. Thread context: any; may suspend and migrate a
/// user-level thread; for a foreign kernel thread see parallel_for_range. After the parallel_pipeline of oneTBB; the
/// way in which stages keep the order is our own.
template <class... Stages>
void parallel_pipeline(const pipeline_options& options, Stages&&... stages) {
  static_assert((detail::is_stage<std::remove_cvref_t<Stages>> && ...),
                "heddle: the stages of a pipeline are made by heddle::stage::serial_in_order, serial_out_of_order and "
                "parallel");
  static_assert(sizeof...(Stages) >= 2, "heddle: a pipeline has two stages or more");
  const auto all = [&] {
    const std::size_t tokens = options.tokens != 0 ? options.tokens : std::size_t{4} * runtime::current().workers();
    detail::pipeline<std::remove_reference_t<Stages>...>(tokens, options.stop, stages...).run();
  };
  if (detail::current_queue() == nullptr) detail::run_in_runtime(all);
  else all();
}

}  // namespace heddle

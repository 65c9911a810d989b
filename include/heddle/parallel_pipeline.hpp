/// Items that go through stages, one stage after the other, many items at a time.
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
/// Stages of parallel_pipeline: `f` is copied or moved into the stage. It is called with the item that the stage before
/// has returned, as an rvalue if it takes one, and returns the item for the next stage; the first stage's has no
/// argument and returns a std::optional, an empty one at the end; what the last one returns is dropped.
namespace stage {

/// One item at a time, in the order in which the first stage has returned them.
template <class F>
auto serial_in_order(F&& f) {
  return detail::pipeline_stage<detail::stage_kind::serial_in_order, std::decay_t<F>>{std::forward<F>(f)};
}
/// One item at a time, in the order in which they come from the stage before.
template <class F>
auto serial_out_of_order(F&& f) {
  return detail::pipeline_stage<detail::stage_kind::serial_out_of_order, std::decay_t<F>>{std::forward<F>(f)};
}
/// Any number of items at a time: `f` is called by several threads at once.
template <class F>
auto parallel(F&& f) {
  return detail::pipeline_stage<detail::stage_kind::parallel, std::decay_t<F>>{std::forward<F>(f)};
}

}  // namespace stage

struct pipeline_options {
  /// How many items are on their way at most, from before the first stage's call to after the last one's. 0: four for
  /// each worker. Room for all of them is allocated at the beginning.
  std::size_t tokens{0};
  /// A request to stop: no stage is called any more, and items on their way are destroyed; the call returns normally.
  std::stop_token stop{};
};

/// Takes items from the first stage until that returns an empty std::optional, and each through all stages; returns
/// when all have passed the last one. Whoever has an item takes it through as many stages as let it in, so it stays in
/// a cache; stages may wait for anything, and contain loops, groups and pipelines of their own.
///
/// When a stage throws, no stage is called any more, items on their way are destroyed, and one of the exceptions is
/// thrown here once all calls have ended. A serial source costs an item two atomic exchanges, each other serial stage
/// one or two. Throws std::bad_alloc, before the first call. Thread context: any; may suspend and migrate a user-level
/// thread; for a foreign kernel thread see parallel_for_range. After the parallel_pipeline of oneTBB; how stages keep
/// the order is our own.
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

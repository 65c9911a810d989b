/// Items that go through stages, one stage after the other, many items at a time.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include <heddle/detail/foreign.hpp>
#include <heddle/detail/fork_queue.hpp>
#include <heddle/detail/pipeline_gate.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

namespace heddle {
namespace detail {

enum class stage_kind { serial_in_order, serial_out_of_order, parallel };

template <stage_kind Kind, class F>
struct pipeline_stage {
  static constexpr stage_kind kind = Kind;
  using function = F;
  F f;
};

// What a stage makes of what it gets.
template <class F, class In>
decltype(auto) call_stage(F& f, In& in) {
  if constexpr (std::is_invocable_v<F&, In&&>) return std::invoke(f, std::move(in));
  else return std::invoke(f, in);
}

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;

// The tuple of what goes from stage to stage.
template <class Done, class... Functions>
struct items_between;
template <class... Done, class Last>
struct items_between<std::tuple<Done...>, Last> {
  using type = std::tuple<std::optional<Done>...>;
};
template <class... Done, class F, class G, class... More>
struct items_between<std::tuple<Done...>, F, G, More...> {
  using in = std::tuple_element_t<sizeof...(Done) - 1, std::tuple<Done...>>;
  using out = std::remove_cvref_t<decltype(call_stage(std::declval<F&>(), std::declval<in&>()))>;
  static_assert(!std::is_void_v<out>, "heddle: a stage that is not the last one has to return an item");
  using type = typename items_between<std::tuple<Done..., out>, G, More...>::type;
};

template <class... Stages>
class pipeline;
template <class Source, class... Stages>
class pipeline<Source, Stages...> {
 public:
  pipeline(std::size_t tokens, const std::stop_token& stop, Source& source, Stages&... others)
      : group_(stop),
        count_(tokens),
        tokens_(std::make_unique<token[]>(tokens)),
        stages_(source, others...),
        gates_(same<Source>(tokens), same<Stages>(tokens)...) {}

  // On a worker.
  void run() {
    std::size_t begun = 1;
    if constexpr (is_serial<0>) {
      std::get<0>(gates_).enter(tokens_[0]);
      while (begun < count_) std::get<0>(gates_).enter(tokens_[begun++]);
    } else {
      while (begun < count_) begin<0>(tokens_[begun++]);
    }
    group_.run_and_wait([this] { go<0>(tokens_[0], true); });
  }

 private:
  static constexpr std::size_t stages = 1 + sizeof...(Stages);
  using functions = std::tuple<Source, Stages...>;
  using first_item = std::invoke_result_t<typename Source::function&>;
  static_assert(is_optional<std::remove_cvref_t<first_item>>,
                "heddle: the first stage of a pipeline returns a std::optional, an empty one at the end");
  using items = typename items_between<std::tuple<typename std::remove_cvref_t<first_item>::value_type>,
                                       typename Stages::function...>::type;

  template <class>
  static std::size_t same(std::size_t n) noexcept {
    return n;
  }
  struct no_gate {
    explicit no_gate(std::size_t) noexcept {}
  };
  template <class Stage>
  using gate_of = std::conditional_t<
      Stage::kind == stage_kind::parallel, no_gate,
      // the source's tokens have no tickets yet
      std::conditional_t<Stage::kind == stage_kind::serial_in_order && !std::is_same_v<Stage, Source>, ordered_gate,
                         open_gate>>;
  template <std::size_t I>
  static constexpr bool is_serial = std::tuple_element_t<I, functions>::kind != stage_kind::parallel;

  struct alignas(64) token : pipeline_token {
    items between;
  };

  template <std::size_t I>
  void begin(token& t) {
    group_.run([this, &t] { go<I>(t, true); });
  }

  // Takes a token from a stage on, again and again, until somebody else has it, or there is nothing more to do.
  template <std::size_t I>
  void go(token& t, bool is_inside) {
    if (!pass<I>(t, is_inside)) return;
    while (pass<0>(t, false)) {
    }
  }

  // From stage I to the end. False: the token waits at a stage, or is not needed any more.
  template <std::size_t I>
  bool pass(token& t, bool is_inside) {
    if constexpr (is_serial<I>) {
      if (!is_inside && !std::get<I>(gates_).enter(t)) return false;
    }
    if (group_.is_cancelled()) return false;
    if (!work<I>(t)) return false;
    if constexpr (is_serial<I>) {
      if (pipeline_token* const next = std::get<I>(gates_).leave(t)) begin<I>(static_cast<token&>(*next));
    }
    if constexpr (I + 1 < stages) return pass<I + 1>(t, false);
    else return true;
  }

  template <std::size_t I>
  bool work(token& t) {
    auto& f = std::get<I>(stages_).f;
    if constexpr (I == 0) {
      // relaxed: seen late, it lets the source be asked once more, which says the same
      if constexpr (!is_serial<0>) {
        if (ended_.load(std::memory_order_relaxed)) return false;
      }
      auto item = std::invoke(f);
      if (!item) {  // of a serial source nobody gets the gate any more
        if constexpr (!is_serial<0>) ended_.store(true, std::memory_order_relaxed);
        return false;
      }
      std::get<0>(t.between).emplace(*std::move(item));
      if constexpr (is_serial<0>) {
        t.ticket = tickets_given_++;
      } else {
        // acq_rel: later tickets know that the tokens of earlier ones were in use ([pipeline:3])
        t.ticket = next_ticket_.fetch_add(1, std::memory_order_acq_rel);
      }
    } else {
      auto& in = std::get<I - 1>(t.between);
      if constexpr (I + 1 < stages) std::get<I>(t.between).emplace(call_stage(f, *in));
      else static_cast<void>(call_stage(f, *in));
      in.reset();
    }
    return true;
  }

  task_group group_;
  const std::size_t count_;
  std::unique_ptr<token[]> tokens_;
  std::tuple<Source&, Stages&...> stages_;
  std::tuple<gate_of<Source>, gate_of<Stages>...> gates_;
  std::size_t tickets_given_{0};  // of a serial source, by whoever is in it
  // of a parallel one
  alignas(64) std::atomic<std::size_t> next_ticket_{0};
  std::atomic<bool> ended_{false};
};

template <class T>
constexpr bool is_stage = false;
template <stage_kind Kind, class F>
constexpr bool is_stage<pipeline_stage<Kind, F>> = true;

}  // namespace detail
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
  /// each worker.
  std::size_t tokens{0};
  /// A request to stop: no stage is called any more, and items on their way are destroyed; the call returns normally.
  std::stop_token stop{};
};

/// Takes items from the first stage until that returns an empty std::optional, and each through all stages; returns
/// when all have passed the last one. Whoever has an item takes it through as many stages as let it in, so it stays in
/// a cache; stages may wait for anything, and contain loops, groups and pipelines of their own.
///
/// When a stage throws, no stage is called any more, items on their way are destroyed, and one of the exceptions is
/// thrown here once all calls have ended. An item costs one child of a task_group, and each serial stage two atomic
/// exchanges. Throws std::bad_alloc, before the first call. Thread context: any; may suspend and migrate a user-level
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

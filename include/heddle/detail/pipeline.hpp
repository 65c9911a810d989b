// The engine of pipelines: stages, tokens and runners. Protocol and proof: src/loop/pipeline.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include <heddle/detail/loop_pace.hpp>
#include <heddle/detail/loop_runtime.hpp>
#include <heddle/detail/loop_site.hpp>
#include <heddle/detail/pipeline_gate.hpp>
#include <heddle/detail/pipeline_pace.hpp>
#include <heddle/pause.hpp>
#include <heddle/task_group.hpp>

namespace heddle::detail {

enum class stage_kind { serial_in_order, serial_out_of_order, parallel };

template <stage_kind Kind, class F>
struct pipeline_stage {
  static constexpr stage_kind kind = Kind;
  using function = F;
  F f;
};

// The result of a stage for an input.
template <class F, class In>
decltype(auto) call_stage(F& f, In& in) {
  if constexpr (std::is_invocable_v<F&, In&&>) return std::invoke(f, std::move(in));
  else return std::invoke(f, in);
}

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;

// The tuple of the values that go from stage to stage.
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
        tokens_(std::make_unique<token[]>(tokens)),
        stages_(source, others...),
        gates_(same<Stages>(tokens)...) {
    for (std::size_t i = tokens; i-- > 0;) source_.put(tokens_[i]);
  }

  // Must be called on a worker.
  void run() {
    // relaxed: a constant, which the first call sets
    if (loop_cycles_per_microsecond.load(std::memory_order_relaxed) == 0) static_cast<void>(loop_begin());
    group_.run_and_wait([this] { serve(); });
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
  using gate_of =
      std::conditional_t<Stage::kind == stage_kind::parallel, no_gate,
                         std::conditional_t<Stage::kind == stage_kind::serial_in_order, ordered_gate, open_gate>>;
  template <std::size_t I>
  static constexpr bool is_serial = std::tuple_element_t<I, functions>::kind != stage_kind::parallel;

  struct alignas(64) token : pipeline_token {
    items between;
    token* (*go_on)(pipeline&, token&, pipeline_pace&){nullptr};  // how a ready token continues
  };

  // The body of a runner. It takes items through the stages, one after the other, until there is nothing for it to do.
  void serve() {
    pipeline_pace pace;
    token* mine = nullptr;  // an empty token
    bool was_in_source = false;
    service_pace service;
    while (!group_.is_cancelled()) {
      if (pace.next()) [[unlikely]]
        is_short_.store(is_serial<0> && pace.is_short(), std::memory_order_relaxed);  // a hint
      if (pipeline_token* const ready = ready_.take(); ready != nullptr) [[unlikely]] {
        if (mine != nullptr) give(*mine);
        make_offer();
        token& t = static_cast<token&>(*ready);
        mine = t.go_on(*this, t, pace);
      } else {
        mine = fill(mine, pace, was_in_source);
        if (mine == nullptr) return;
        was_in_source = true;
        mine = pass<1>(mine, pace);
      }
      service.boundary();
    }
  }

  // [pipeline:4] Called when there is something to do and perhaps no runner comes for it: starts a child that looks for
  // it.
  void make_offer() {
    if (is_offered_.load() || is_offered_.exchange(true)) return;
    group_.run([this] {
      if (is_short_.load(std::memory_order_relaxed)) hold_back();  // a hint
      is_offered_.store(false);
      serve();
    });
  }

  // Delays a new runner while items are short, because one runner alone is then faster than two. It ends when that
  // runner stops, or after a while.
  void hold_back() noexcept {
    // 20 to 50 us. A longer delay would make other work wait for this worker.
    constexpr int looks = 16, turns = 64;
    constexpr std::size_t few = 4;
    std::size_t seen = given_.load(std::memory_order_relaxed);  // a hint, as below
    for (int look = 0; look < looks; ++look) {
      for (int i = 0; i < turns; ++i) this_thread::pause();
      const std::size_t before = std::exchange(seen, given_.load(std::memory_order_relaxed));
      if (seen - before < few) return;
    }
  }

  void give(token& t) {
    if (source_.give(t)) make_offer();
  }

  // Returns a token with the next item: `mine`, if it is not null. Returns null if there is nothing to do for this
  // runner.
  token* fill(token* mine, pipeline_pace& pace, bool was_in_source) {
    if constexpr (is_serial<0>) {
      token* const t = static_cast<token*>(source_.enter(mine));
      if (t == nullptr) return nullptr;
      const bool is_superfluous =
          was_in_source && last_ != &pace && is_short_.load(std::memory_order_relaxed);  // a hint
      if (is_superfluous) [[unlikely]] {
        source_.put(*t);
        static_cast<void>(source_.leave());
        make_offer();
        return nullptr;
      }
      last_ = &pace;
      if (!ask(*t, pace)) {
        source_.close();
        return nullptr;
      }
      // relaxed twice: the runner inside the source owns the value; others take it for a hint
      t->ticket = given_.load(std::memory_order_relaxed);
      given_.store(t->ticket + 1, std::memory_order_relaxed);
      if (source_.leave()) make_offer();
      return t;
    } else {
      // relaxed: if the end is seen late, the source is asked once more and says the same
      if (has_ended_.load(std::memory_order_relaxed)) return nullptr;
      if (mine == nullptr) {
        mine = static_cast<token*>(source_.enter(nullptr));
        if (mine == nullptr) return nullptr;
        if (source_.leave()) make_offer();
      }
      if (!ask(*mine, pace)) {
        has_ended_.store(true, std::memory_order_relaxed);  // as above
        return nullptr;
      }
      // acq_rel: later tickets know that the tokens of earlier ones were in use ([pipeline:3])
      mine->ticket = given_.fetch_add(1, std::memory_order_acq_rel);
      return mine;
    }
  }

  // Takes a token from stage I to the end. Returns null if the token waits at a stage or is not needed any more.
  template <std::size_t I>
  token* pass(token* t, pipeline_pace& pace) {
    if constexpr (I == stages) {
      return t;
    } else {
      if constexpr (is_serial<I>) {
        auto& gate = std::get<I - 1>(gates_);
        if (!gate.enter(*t)) return nullptr;
        for (;;) {
          if (group_.is_cancelled()) return nullptr;
          work<I>(*t, pace);
          token* const next = static_cast<token*>(gate.leave(*t));
          if (next == nullptr) break;
          let_go<I + 1>(*t);
          t = next;
        }
      } else {
        if (group_.is_cancelled()) return nullptr;
        work<I>(*t, pace);
      }
      return pass<I + 1>(t, pace);
    }
  }

  // Lets token `t` go on at stage I while the caller stays in the stage before and runs the next token there.
  template <std::size_t I>
  void let_go(token& t) {
    if constexpr (I == stages) {
      give(t);
    } else {
      t.go_on = [](pipeline& p, token& self, pipeline_pace& pace) { return p.template pass<I>(&self, pace); };
      ready_.add(t);
      make_offer();
    }
  }

  // Asks the source for an item. Returns false if the source or the pipeline has ended.
  bool ask(token& t, pipeline_pace& pace) {
    if (group_.is_cancelled()) return false;
    auto item = pace.time([&] { return std::invoke(std::get<0>(stages_).f); });
    if (!item) return false;
    std::get<0>(t.between).emplace(*std::move(item));
    return true;
  }

  template <std::size_t I>
  void work(token& t, pipeline_pace& pace) {
    auto& f = std::get<I>(stages_).f;
    auto& in = std::get<I - 1>(t.between);
    pace.time([&] {
      if constexpr (I + 1 < stages) std::get<I>(t.between).emplace(call_stage(f, *in));
      else static_cast<void>(call_stage(f, *in));
    });
    in.reset();
  }

  task_group group_;
  std::unique_ptr<token[]> tokens_;
  std::tuple<Source&, Stages&...> stages_;
  std::tuple<gate_of<Stages>...> gates_;
  // Of the runner that is in the source.
  alignas(64) source_gate source_;
  std::atomic<std::size_t> given_{0};   // tickets; all runners write it if the source is parallel
  const pipeline_pace* last_{nullptr};  // the runner that was in the source last
  // These are written seldom.
  // True if a child was started that will look for something to do and has not begun.
  alignas(64) std::atomic<bool> is_offered_{false};
  // A hint by any runner: items are so short that one runner is enough.
  std::atomic<bool> is_short_{false};
  std::atomic<bool> has_ended_{false};  // set when a parallel source has ended
  ready_tokens ready_;
};

template <class T>
constexpr bool is_stage = false;
template <stage_kind Kind, class F>
constexpr bool is_stage<pipeline_stage<Kind, F>> = true;

}  // namespace heddle::detail

// Nested fork-join of a few callables.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <heddle/detail/foreign.hpp>
#include <heddle/detail/fork_queue.hpp>
#include <heddle/detail/second_half.hpp>
#include <heddle/export.hpp>

namespace heddle {
namespace detail {

// Returns the address of a frame's member, computed anew, so that it stays out of a callee-saved register during the
// first half.
template <class T>
[[gnu::always_inline]] inline T* address_again(T& object) noexcept {
#if defined(__x86_64__)
  T* address;
  asm volatile("leaq %1, %0" : "=r"(address) : "m"(object));
  return address;
#else
  return std::addressof(object);
#endif
}

struct nothing_returned {};
template <class F>
using result_of =
    std::conditional_t<std::is_void_v<std::invoke_result_t<F&>>, nothing_returned, std::invoke_result_t<F&>>;

// The result type of parallel_invoke.
template <class F, class G,
          class Both = std::pair<result_of<std::remove_reference_t<F>>, result_of<std::remove_reference_t<G>>>>
using pair_of_results =
    std::conditional_t<std::is_same_v<Both, std::pair<nothing_returned, nothing_returned>>, void, Both>;

// The result type for three and more callables. Types that are not void stay as they are in the tuple.
template <class... F>
using tuple_of_results = std::conditional_t<(std::is_void_v<std::invoke_result_t<std::remove_reference_t<F>&>> && ...),
                                            void, std::tuple<result_of<std::remove_reference_t<F>>...>>;

template <class F, class G, class H, class... Rest>
std::tuple<result_of<F>, result_of<G>, result_of<H>, result_of<Rest>...> invoke_all(F& f, G& g, H& h, Rest&... rest);

template <class F>
[[gnu::always_inline]] inline result_of<F> call(F& f) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
    f();
    return {};
  } else {
    return f();
  }
}

// The second half of a fork. Small closures are copied into it, so that no address must be kept.
template <class G>
struct fork_frame : second_half<result_of<std::remove_reference_t<G>>> {
  using callable = std::remove_reference_t<G>;
  using result = result_of<callable>;
  static constexpr bool copied = [] {
    if constexpr (std::is_lvalue_reference_v<G>) return false;  // perhaps to a function, which has no size
    else return std::is_trivially_copyable_v<callable> && sizeof(callable) <= 32;
  }();
  using kept = std::conditional_t<copied, callable, callable*>;

  explicit fork_frame(callable& g) noexcept : second_half<result>(&fork_frame::execute), held(keep(g)) {}

  static kept keep(callable& g) noexcept {
    if constexpr (copied) return g;
    else return std::addressof(g);
  }
  callable& get() noexcept {
    if constexpr (copied) return held;
    else return *held;
  }

  static void execute(job* self) noexcept {
    auto& frame = *static_cast<fork_frame*>(self);
    frame.complete([&]() -> result { return call(frame.get()); });
  }

  kept held;
};

// The join of a fork whose pop did not say that the second half is the caller's alone.
template <class G>
[[gnu::noinline]] typename fork_frame<G>::result join_lost(fork_frame<G>& frame, popped got) {
  const join_noted at_end{frame};
  const join_outcome outcome = got == popped::watched ? join_outcome::run_here : join_slow(frame, frame.position);
  return outcome == join_outcome::run_here ? call(frame.get()) : frame.take(outcome);
}

template <class F, class G>
[[gnu::always_inline]] inline auto invoke_pair(F& f, fork_frame<G>& frame)
    -> std::pair<result_of<F>, typename fork_frame<G>::result> {
  // The frame must outlive the second half on another worker.
  struct guard {
    fork_frame<G>* frame;
    [[gnu::always_inline]] ~guard() {
      if (frame != nullptr) frame->drop();
    }
  } unwind{&frame};
  result_of<F> first = call(f);
  unwind.frame = nullptr;
  fork_frame<G>* again = address_again(frame);
  const popped got = pop(entry_of(again), again->position);
  if (got == popped::mine) [[likely]]
    return {std::move(first), call(again->get())};
  return {std::move(first), join_lost(*again, got)};
}

}  // namespace detail

/// Runs both callables, possibly in parallel, and returns when both have ended. `f` runs on the calling thread. `g`
/// runs there after `f`, or at once on another worker. Returns nothing if both return void, and otherwise the pair of
/// their results (detail::nothing_returned for void).
///
/// An exception of either is thrown here once both have ended. If `f` throws and `g` has not started, `g` is dropped.
/// If both throw, `f`'s exception is thrown. Thread context: any; may suspend and migrate a user-level thread. A
/// foreign kernel thread takes the place of a worker that sleeps. If none sleeps, it hands both over and sleeps until
/// they have ended. Source: as in Cilk the first half runs at once. Unlike in Cilk thieves take the second half, not
/// the caller's continuation (src/task/README.md, src/queue/README.md).
template <class F, class G>
inline auto parallel_invoke(F&& f, G&& g) -> detail::pair_of_results<F, G> {
  detail::fork_frame<G> frame(g);
  const detail::ticket position = detail::push_fork(detail::entry_of(&frame));
  if (position == detail::foreign_ticket) [[unlikely]] {
    return detail::run_in_runtime([&]() -> detail::pair_of_results<F, G> { return parallel_invoke(f, g); });
  }
  frame.position = position;
  if constexpr (std::is_void_v<detail::pair_of_results<F, G>>) {
    detail::invoke_pair(f, frame);
  } else {
    return detail::invoke_pair(f, frame);
  }
}

/// The work of two halves in any unit (NaN if not known), and the bytes that they touch together (0 if not known). Some
/// scheduling policies use such hints. A wrong hint costs time and nothing else.
struct work_hint {
  double first;
  double second;
  std::size_t bytes{0};
};

/// Does the same with hints.
template <class F, class G>
inline auto parallel_invoke(work_hint hint, F&& f, G&& g) -> detail::pair_of_results<F, G> {
  detail::fork_frame<G> frame(g);
  const detail::ticket position = detail::push_fork(detail::entry_of(&frame), hint.first, hint.second, hint.bytes);
  if (position == detail::foreign_ticket) [[unlikely]] {
    return detail::run_in_runtime(
        [hint, &f, &g]() -> detail::pair_of_results<F, G> { return parallel_invoke(hint, f, g); });
  }
  frame.position = position;
  if constexpr (std::is_void_v<detail::pair_of_results<F, G>>) {
    detail::invoke_pair(f, frame);
  } else {
    return detail::invoke_pair(f, frame);
  }
}

/// Does the same for any number of callables, as a tree of forks. Returns nothing if all return void, and otherwise the
/// tuple of their results (detail::nothing_returned for void). Of several exceptions that of the first callable in the
/// list is thrown.
template <std::invocable F, std::invocable G, std::invocable H, std::invocable... Rest>
inline auto parallel_invoke(F&& f, G&& g, H&& h, Rest&&... rest) -> detail::tuple_of_results<F, G, H, Rest...> {
  if constexpr (std::is_void_v<detail::tuple_of_results<F, G, H, Rest...>>) {
    detail::invoke_all(f, g, h, rest...);
  } else {
    return detail::invoke_all(f, g, h, rest...);
  }
}

/// Calls a single callable in place.
template <std::invocable F>
inline decltype(auto) parallel_invoke(F&& f) {
  return f();
}

namespace detail {

template <class F>
std::tuple<result_of<F>> invoke_all(F& f) {
  return std::tuple<result_of<F>>(call(f));
}
template <class F, class G>
std::tuple<result_of<F>, result_of<G>> invoke_all(F& f, G& g) {
  auto [left, right] = parallel_invoke([&] { return invoke_all(f); }, [&] { return invoke_all(g); });
  return std::tuple_cat(std::move(left), std::move(right));
}
template <class F, class G, class H, class... Rest>
std::tuple<result_of<F>, result_of<G>, result_of<H>, result_of<Rest>...> invoke_all(F& f, G& g, H& h, Rest&... rest) {
  auto [left, right] = parallel_invoke([&] { return invoke_all(f, g); }, [&] { return invoke_all(h, rest...); });
  return std::tuple_cat(std::move(left), std::move(right));
}

}  // namespace detail

}  // namespace heddle

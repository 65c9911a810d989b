// A callable and its arguments, stored for one later call on another thread, by the rules of std::thread.
#pragma once

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heddle::detail {

template <class F, class... Args>
using bound_result = std::invoke_result_t<std::decay_t<F>, std::decay_t<Args>...>;

template <class F, class... Args>
concept callable_with = std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>;

// Stores copies of `f` and of the arguments. The one call may move from them. std::ref passes a reference.
template <class F, class... Args>
auto bound_call(F&& f, Args&&... args) {
  return [held = std::tuple<std::decay_t<F>, std::decay_t<Args>...>(
              std::forward<F>(f), std::forward<Args>(args)...)]() mutable -> bound_result<F, Args...> {
    return std::apply([](auto&... part) -> bound_result<F, Args...> { return std::invoke(std::move(part)...); }, held);
  };
}

}  // namespace heddle::detail

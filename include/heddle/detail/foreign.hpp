// Running work for a foreign kernel thread. A user-level thread of a runtime does the work; if a worker sleeps, it does
// so on the caller's own kernel thread.
#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <heddle/export.hpp>

namespace heddle {

class runtime;

namespace detail {

// Runs call(data) on a user-level thread and returns when it has ended. If `where` is null, the runtime is that of the
// calling thread, or else the global one. Throws std::system_error if no thread can be made. `call` must not throw.
HEDDLE_API void run_and_wait(runtime* where, void (*call)(void*) noexcept, void* data);

// Runs f() through run(call, data), which returns when call(data) has ended. Returns f's result or throws its
// exception.
template <class Result, class F, class Run>
Result run_by(F& f, Run run) {
  using result = Result;
  struct shared {
    F* f;
    std::exception_ptr error;
    std::optional<std::conditional_t<std::is_void_v<result>, bool, result>> value;
  } s{&f, nullptr, {}};
  run(
      [](void* data) noexcept {
        auto& t = *static_cast<shared*>(data);
        try {
          if constexpr (std::is_void_v<result>) (*t.f)();
          else t.value.emplace((*t.f)());
        } catch (...) {
          t.error = std::current_exception();
        }
      },
      &s);
  if (s.error) std::rethrow_exception(s.error);
  if constexpr (!std::is_void_v<result>) return std::move(*s.value);
}

// Runs f() on a user-level thread while the caller waits. Returns its result or throws its exception.
template <class F>
auto run_in_runtime(F&& f, runtime* where = nullptr) -> std::invoke_result_t<F&> {
  return run_by<std::invoke_result_t<F&>>(
      f, [where](void (*call)(void*) noexcept, void* data) { run_and_wait(where, call, data); });
}

}  // namespace detail
}  // namespace heddle

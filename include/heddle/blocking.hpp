/// Calls that block in the kernel.
#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <heddle/export.hpp>

namespace heddle {

namespace detail {

struct blocking_state {
  void* thread{nullptr};  // null: nothing was lent
  void* carrier{nullptr};
};
HEDDLE_API blocking_state begin_blocking() noexcept;
HEDDLE_API void end_blocking(const blocking_state& state) noexcept;

}  // namespace detail

/// Calls f() and returns its result or throws its exception. For code that blocks the kernel thread: a lock of another
/// library, a long system call, read() of a file. (For sockets and pipes use wait_readable(), which needs no kernel
/// thread for each call.) Meanwhile the worker goes on with other threads on another kernel thread; afterwards the
/// caller is queued like any ready thread and goes on on some worker of its runtime.
///
/// Thread context: any. May suspend and migrate a user-level thread before f and after it. From a foreign kernel
/// thread, and when no kernel thread can be had for the worker, f is called in place.
///
/// Inside f the caller counts as a foreign kernel thread. It stays on the kernel thread that called blocking()
/// (thread-local variables included), what it waits for blocks that kernel thread, runtime::current() is the global
/// runtime, and a nested blocking() just calls its function.
///
/// Cost: two futex calls, and afterwards a place in the queue. There are as many kernel threads as calls under way,
/// besides one a worker. Beyond `runtime_options::blocking_limit` (4096) calls under way, further ones wait, as for a
/// semaphore, and the runtime says so once; a program whose calls wait for what later calls do needs a higher limit. Of
/// the kernel threads without a call sixteen are kept until the runtime ends; any further one ends when nobody has
/// needed it for a second.
template <class F>
auto blocking(F&& f) -> std::invoke_result_t<F&> {
  using result = std::invoke_result_t<F&>;
  const detail::blocking_state state = detail::begin_blocking();
  if (state.thread == nullptr) return f();
  // The way back changes kernel threads, and an exception under way belongs to the kernel thread it was thrown on: it
  // is caught before and thrown anew after.
  std::exception_ptr error;
  if constexpr (std::is_void_v<result>) {
    try {
      f();
    } catch (...) {
      error = std::current_exception();
    }
    detail::end_blocking(state);
    if (error) std::rethrow_exception(std::move(error));
  } else if constexpr (std::is_reference_v<result>) {
    std::remove_reference_t<result>* value = nullptr;
    try {
      result there = f();
      value = &there;
    } catch (...) {
      error = std::current_exception();
    }
    detail::end_blocking(state);
    if (error) std::rethrow_exception(std::move(error));
    return static_cast<result>(*value);
  } else {
    std::optional<result> value;
    try {
      value.emplace(f());
    } catch (...) {
      error = std::current_exception();
    }
    detail::end_blocking(state);
    if (error) std::rethrow_exception(std::move(error));
    return std::move(*value);
  }
}

}  // namespace heddle

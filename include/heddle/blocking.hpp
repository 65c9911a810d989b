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
  void* thread{nullptr};  // null if the worker stayed
  void* carrier{nullptr};
};
HEDDLE_API blocking_state begin_blocking() noexcept;
HEDDLE_API void end_blocking(const blocking_state& state) noexcept;

}  // namespace detail

/// Calls f() and returns its result or throws its exception. It is meant for code that blocks the kernel thread: a lock
/// of another library, a long system call, read() of a file. (For sockets and pipes use wait_readable(), which needs no
/// kernel thread for each call.) While f runs, the worker goes on with other threads on another kernel thread. After f
/// the caller is queued like any ready thread and continues on some worker of its runtime.
///
/// Thread context: any. May suspend and migrate a user-level thread before f and after it. f is called in place from a
/// foreign kernel thread, and when no other kernel thread can be had for the worker.
///
/// Inside f the caller counts as a foreign kernel thread. It stays on the kernel thread that called blocking(), with
/// its thread-local variables. A wait inside f blocks that kernel thread, runtime::current() is the global runtime, and
/// a nested blocking() just calls its function.
///
/// Cost: two futex calls, and a place in the queue afterwards. The runtime has one kernel thread for each worker and
/// one for each call under way. At most `runtime_options::blocking_limit` (4096) calls are under way at once. Further
/// calls wait as on a semaphore, and the runtime reports that once. A program in which a call waits for what a later
/// call does needs a higher limit. Sixteen kernel threads without a call are kept until the runtime ends; any further
/// one ends after a second without use.
template <class F>
auto blocking(F&& f) -> std::invoke_result_t<F&> {
  using result = std::invoke_result_t<F&>;
  const detail::blocking_state state = detail::begin_blocking();
  if (state.thread == nullptr) return f();
  // end_blocking may change the kernel thread, and an exception under way belongs to the kernel thread that it was
  // thrown on. So it is caught before and rethrown after.
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

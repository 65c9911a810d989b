/// Regions of code during which the thread's stack runs nothing else.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <heddle/export.hpp>

namespace heddle {

namespace detail {

// The thread and the runtime at the start of an isolated region. They are checked at its end.
struct isolation {
  std::uint64_t thread;
  const void* runtime;
};
HEDDLE_API isolation begin_isolation() noexcept;
HEDDLE_API void end_isolation(const isolation& begun) noexcept;

}  // namespace detail

/// Calls f() and returns its result. While f runs, no wait in it, or in anything that it calls, makes the calling
/// thread run work that f did not call. So no other task runs on the stack above f, sees f's thread-local state half
/// changed, or asks for a lock that f holds.
///
/// heddle keeps this promise everywhere, not only here: a wait suspends its thread, and other work runs on other
/// stacks. (With a runtime that runs stolen tasks inside a wait, holding a lock across a join can deadlock, and
/// `isolate` is needed.) So this function changes nothing in how f runs, and it does not restrict what other threads
/// take from f. It states in the source that the code relies on the promise. Audit builds (HEDDLE_AUDIT) check that the
/// region is left by the thread of the runtime that entered it. Thread context: any.
template <class F>
decltype(auto) isolate(F&& f) {
#if defined(HEDDLE_AUDIT)
  struct region {
    detail::isolation begun = detail::begin_isolation();
    ~region() { detail::end_isolation(begun); }
  } here;
#endif
  return std::forward<F>(f)();
}

}  // namespace heddle

/// Code during which a thread's own stack runs nothing else.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <heddle/export.hpp>

namespace heddle {

namespace detail {

// Where and who at the start of an isolated region, and the check of its end.
struct isolation {
  std::uint64_t thread;
  const void* runtime;
};
HEDDLE_API isolation begin_isolation() noexcept;
HEDDLE_API void end_isolation(const isolation& begun) noexcept;

}  // namespace detail

/// Calls f() and returns its result. While f runs, no wait in it, or in anything it calls,
/// makes the calling thread run work that f did not call: no other task runs on the stack
/// above f, sees its thread-local state half changed or asks for a lock that f holds.
///
/// heddle keeps this promise everywhere, not only here: whatever waits suspends its thread, and other work runs on
/// other stacks. (With a runtime that runs stolen tasks inside a wait, holding a lock across a join can deadlock; there
/// `isolate` is needed.) So it changes nothing in how f runs and does not restrict what other threads take from it. It
/// states in the source that the code relies on the promise; in audit builds (HEDDLE_AUDIT) it is checked that the same
/// thread of the same runtime leaves the region that entered it. Thread context: any.
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

// Checks of the runtime's own invariants. A broken invariant aborts in every build and prints the values involved; the
// costly checks exist in audit builds only. Neither kind is ever used as an optimiser assumption.
#pragma once

#include <cstdarg>

namespace heddle::base {

// Prints "heddle: <message>" with the given values on standard error and aborts. Callable from any context.
[[noreturn, gnu::format(printf, 3, 4), gnu::cold]] void fail(const char* file, int line, const char* format,
                                                             ...) noexcept;

}  // namespace heddle::base

#define HEDDLE_CHECK(condition, ...)                                         \
  do {                                                                       \
    if (!(condition)) [[unlikely]]                                           \
      ::heddle::base::fail(__FILE__, __LINE__, #condition ": " __VA_ARGS__); \
  } while (false)

#if defined(HEDDLE_AUDIT)
#define HEDDLE_AUDIT_CHECK(condition, ...) HEDDLE_CHECK(condition, __VA_ARGS__)
#else
#define HEDDLE_AUDIT_CHECK(condition, ...) static_cast<void>(0)
#endif

// Audit builds abort where the scheduler calls malloc although it may stand in a signal handler, above a malloc that was interrupted.
// Nothing in other builds.
#pragma once

#include "base/contracts.hpp"

namespace heddle::base {

#if defined(HEDDLE_AUDIT) && !defined(HEDDLE_SIM) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HEDDLE_AUDITS_MALLOC 1

// Of the calling kernel thread: what it does that forbids malloc; null when nothing does.
extern constinit thread_local const char* malloc_forbidden_by [[gnu::tls_model("initial-exec")]];

inline void forbid_malloc(const char* doing) noexcept { malloc_forbidden_by = doing; }
inline void allow_malloc() noexcept { malloc_forbidden_by = nullptr; }

// From now on preemptive threads may hold malloc's locks while they are suspended, so run loops must not wait for them.
void preemption_is_used() noexcept;
// While it lives, on one kernel thread: malloc is forbidden if preemption is used.
class no_malloc {
 public:
  explicit no_malloc(const char* doing) noexcept;
  ~no_malloc();
  no_malloc(const no_malloc&) = delete;
  no_malloc& operator=(const no_malloc&) = delete;

 private:
  const char* const before_;
};
#else
inline void forbid_malloc(const char*) noexcept {}
inline void allow_malloc() noexcept {}
inline void preemption_is_used() noexcept {}
struct no_malloc {
  explicit no_malloc(const char*) noexcept {}
  ~no_malloc() {}
};
#endif

}  // namespace heddle::base

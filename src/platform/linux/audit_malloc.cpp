// The C library's allocation functions, interposed in audit builds: they
// abort on a kernel thread that must not call them (base/audit.hpp).
#include "base/audit.hpp"

#if defined(HEDDLE_AUDITS_MALLOC)
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "platform/platform.hpp"

extern "C" {
// glibc's own functions, under the names that it provides for programs that interpose them.
void* __libc_malloc(std::size_t) noexcept;
void* __libc_calloc(std::size_t, std::size_t) noexcept;
void* __libc_realloc(void*, std::size_t) noexcept;
void* __libc_memalign(std::size_t, std::size_t) noexcept;
void __libc_free(void*) noexcept;
}

namespace heddle::base {

const char* malloc_forbidden_by() noexcept;  // audit.cpp

namespace {

// fail() is not used, because formatting a message may allocate.
void check(const char* function) noexcept {
  const char* doing = malloc_forbidden_by();
  if (doing == nullptr) [[likely]]
    return;
  allow_malloc();  // abort() may call it
  const auto say = [](const char* text) { platform::write_error(text, std::strlen(text)); };
  say("heddle: ");
  say(function);
  say("() was called ");
  say(doing);
  say(", and a preempted thread that waits for this worker may hold its locks; what a policy may do there: "
      "<heddle/policy.hpp>\n");
  std::abort();
}

}  // namespace

}  // namespace heddle::base

extern "C" {

void* malloc(std::size_t size) noexcept {
  heddle::base::check("malloc");
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  heddle::base::check("calloc");
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) noexcept {
  heddle::base::check("realloc");
  return __libc_realloc(block, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  heddle::base::check("memalign");
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  heddle::base::check("aligned_alloc");
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  heddle::base::check("posix_memalign");
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void* block = __libc_memalign(alignment, size);
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}
void free(void* block) noexcept {
  if (block == nullptr) return;
  heddle::base::check("free");
  __libc_free(block);
}
}
#endif

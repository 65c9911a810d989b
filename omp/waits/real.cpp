#include "omp/waits/real.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace heddle::omp::waits {

void* find_real(const char* name, const char* version) noexcept {
  void* found = version == nullptr ? nullptr : dlvsym(RTLD_NEXT, name, version);
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "heddle: the C library has no %s\n", name);
    std::abort();
  }
  return found;
}

namespace {

// All are found here, so that no later call has to look, in a signal handler or with a lock of the loader's held by
// another thread.
[[gnu::constructor]] void find_all() noexcept {
#define HEDDLE_REAL(name) (void)real::name.find();
#define HEDDLE_REAL_CONDITION HEDDLE_REAL
#include "omp/waits/functions.def"
}

}  // namespace

}  // namespace heddle::omp::waits

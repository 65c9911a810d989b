// Time: OpenMP 5.1, section 3.10. clock_gettime is a function of the kernel's shared object, so it makes no system
// call.
#include <time.h>

#include "omp/api/api.hpp"

namespace {

double seconds(const timespec& t) noexcept {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

extern "C" {

double omp_get_wtime() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return seconds(now);
}

double omp_get_wtick() {
  timespec tick;
  clock_getres(CLOCK_MONOTONIC, &tick);
  return seconds(tick);
}

}  // extern "C"

#include "omp/core/environment.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "omp/seam.hpp"

namespace heddle::omp {

namespace {

using namespace std::chrono_literals;

control_variables read_variables() noexcept {
  control_variables v;
  v.threads = static_cast<int>(heddle::runtime::global().workers());
  if (const char* text = std::getenv("OMP_NUM_THREADS"); text != nullptr && std::atoi(text) > 0)
    v.threads = std::atoi(text);
  if (const char* text = std::getenv("OMP_MAX_ACTIVE_LEVELS"); text != nullptr) v.max_active_levels = std::atoi(text);
  return v;
}

bool says(const char* name, const char* word) noexcept {
  const char* text = std::getenv(name);
  return text != nullptr && strcasecmp(text, word) == 0;
}

std::chrono::nanoseconds read_spin_time() noexcept {
  if (says("OMP_WAIT_POLICY", "passive")) return 0ns;
  if (says("OMP_WAIT_POLICY", "active")) return 200ms;
  if (says("KMP_BLOCKTIME", "infinite")) return 3600s;
  if (const char* text = std::getenv("KMP_BLOCKTIME"); text != nullptr) return std::chrono::milliseconds(std::atoi(text));
  return 300us;
}

std::size_t read_stack_size() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur >= (1u << 20))
    return limit.rlim_cur;
  return std::size_t{8} << 20;
}

}  // namespace

const control_variables& initial_variables() noexcept {
  static const control_variables read = read_variables();
  return read;
}

std::chrono::nanoseconds spin_time() noexcept {
  static const std::chrono::nanoseconds read = read_spin_time();
  return read;
}

std::size_t stack_size() noexcept {
  static const std::size_t read = read_stack_size();
  return read;
}

int largest_priority() noexcept {
  static const int read = [] {
    const char* text = std::getenv("OMP_MAX_TASK_PRIORITY");
    return text != nullptr ? std::max(std::atoi(text), 0) : 0;
  }();
  return read;
}

bool may_cancel() noexcept {
  static const bool read = says("OMP_CANCELLATION", "true");
  return read;
}

preempt_members preempting() noexcept {
  static const preempt_members read = says("HEDDLE_OMP_PREEMPT", "on")    ? preempt_members::on
                                      : says("HEDDLE_OMP_PREEMPT", "off") ? preempt_members::off
                                                                          : preempt_members::automatic;
  return read;
}

}  // namespace heddle::omp

// The functions of the C library by which a thread asks for its own stack, its processors, its priority and its clock.
// This file stands before them, because the C library would answer for the kernel thread, whose stack a user-level
// thread is not on, or fail for a thread with storage of its own, whose number the kernel does not know
// ([own_storage:2]). Questions about other threads than the caller go to the C library.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <ctime>

#include <heddle/export.hpp>

#include "platform/linux/own_numbers.hpp"
#include "platform/platform.hpp"

namespace heddle::platform {

namespace {

// Written once, by the first runtime.
std::atomic<bool (*)(const void*, stack_range&)> stack_around{nullptr};

template <class F>
F in_c_library(const char* name) noexcept {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

bool is_caller_on_block(pthread_t thread) noexcept {
  return thread == pthread_self() && is_own_number(reinterpret_cast<void*>(thread));
}

// The rest of the attributes are those of the kernel thread.
int describe(const stack_range& stack, pthread_attr_t* attributes) noexcept {
  if (const int error = pthread_attr_init(attributes); error != 0) return error;
  int error = pthread_attr_setstack(attributes, stack.low, stack.bytes);
  pthread_attr_setguardsize(attributes, 0);  // the guard lies below
  sched_param parameters{};
  if (const int policy = sched_getscheduler(0); policy >= 0 && sched_getparam(0, &parameters) == 0) {
    pthread_attr_setschedpolicy(attributes, policy);
    pthread_attr_setschedparam(attributes, &parameters);
  }
  cpu_set_t allowed;
  if (error == 0 && sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    error = pthread_attr_setaffinity_np(attributes, sizeof allowed, &allowed);
  if (error != 0) pthread_attr_destroy(attributes);
  return error;
}

}  // namespace

void know_stacks_by(bool (*around)(const void* address, stack_range& found)) noexcept { stack_around.store(around); }

}  // namespace heddle::platform

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

using heddle::platform::in_c_library;
using heddle::platform::is_caller_on_block;

extern "C" {

HEDDLE_API int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) noexcept {
  using namespace heddle::platform;
  auto* const around = stack_around.load();
  stack_range found;
  if (thread == pthread_self() && around != nullptr && around(__builtin_frame_address(0), found))
    return describe(found, attributes);
  static const auto next = in_c_library<int (*)(pthread_t, pthread_attr_t*)>("pthread_getattr_np");
  return next == nullptr ? ENOSYS : next(thread, attributes);
}

HEDDLE_API int pthread_getaffinity_np(pthread_t thread, std::size_t bytes, cpu_set_t* allowed) noexcept {
  if (is_caller_on_block(thread)) return sched_getaffinity(0, bytes, allowed) == 0 ? 0 : errno;
  static const auto next = in_c_library<int (*)(pthread_t, std::size_t, cpu_set_t*)>("pthread_getaffinity_np");
  return next == nullptr ? ENOSYS : next(thread, bytes, allowed);
}

HEDDLE_API int pthread_getschedparam(pthread_t thread, int* policy, sched_param* parameters) noexcept {
  if (is_caller_on_block(thread)) {
    *policy = sched_getscheduler(0);
    return *policy >= 0 && sched_getparam(0, parameters) == 0 ? 0 : errno;
  }
  static const auto next = in_c_library<int (*)(pthread_t, int*, sched_param*)>("pthread_getschedparam");
  return next == nullptr ? ENOSYS : next(thread, policy, parameters);
}

// The clock is that of the calling kernel thread, whichever that is, as CLOCK_THREAD_CPUTIME_ID.
HEDDLE_API int pthread_getcpuclockid(pthread_t thread, clockid_t* clock) noexcept {
  if (is_caller_on_block(thread)) {
    *clock = CLOCK_THREAD_CPUTIME_ID;
    return 0;
  }
  static const auto next = in_c_library<int (*)(pthread_t, clockid_t*)>("pthread_getcpuclockid");
  return next == nullptr ? ENOSYS : next(thread, clock);
}

}  // extern "C"

#endif

// The announcements of stacks and switches that ThreadSanitizer, AddressSanitizer and valgrind need. Empty in ordinary
// builds.
#pragma once

#include <atomic>

#include "fiber/thread.hpp"

#if defined(HEDDLE_SIM)
// No sanitizer understands simulated kernel threads; there the explorer instruments the atomics itself.
#elif defined(__SANITIZE_THREAD__)
#define HEDDLE_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define HEDDLE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEDDLE_TSAN 1
#elif __has_feature(address_sanitizer)
#define HEDDLE_ASAN 1
#endif
#endif

#if !defined(HEDDLE_TSAN) && !defined(HEDDLE_SIM)
// Defined if anything in the process is compiled with ThreadSanitizer.
extern "C" [[gnu::weak]] void __tsan_init();
#endif

#if defined(HEDDLE_TSAN)
#include <sanitizer/tsan_interface.h>
#elif defined(HEDDLE_ASAN)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// One client request for each stack that is made; outside valgrind it is a few instructions.
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define HEDDLE_VALGRIND 1
#endif

// For functions that begin in one thread and return in another, because they must not change ThreadSanitizer's count of
// calls.
#if defined(HEDDLE_TSAN) && defined(__clang__)
// no_sanitize keeps the calls at entry and exit
#define HEDDLE_NO_TSAN __attribute__((disable_sanitizer_instrumentation))
#elif defined(HEDDLE_TSAN)
#define HEDDLE_NO_TSAN __attribute__((no_sanitize("thread")))
#else
#define HEDDLE_NO_TSAN
#endif
// For functions that read words of other threads' stacks, whatever lies there.
#if defined(HEDDLE_ASAN)
#define HEDDLE_SCANS_STACKS __attribute__((no_sanitize("address")))
#else
#define HEDDLE_SCANS_STACKS HEDDLE_NO_TSAN
#endif

namespace heddle::fiber {

// Returns true if something in this process is compiled with ThreadSanitizer and this library is not. ThreadSanitizer
// would then take a change of stacks for a broken stack, and crash.
inline bool unknown_to_thread_sanitizer() noexcept {
#if !defined(HEDDLE_TSAN) && !defined(HEDDLE_SIM)
  return __tsan_init != nullptr;
#else
  return false;
#endif
}

#if defined(HEDDLE_TSAN)
// ThreadSanitizer has a fiber for each stack, which is expensive: gcc's takes 0.8 MB and half a millisecond to make,
// and more with the history that it remembers. So a stack in a cache keeps its fiber for the next thread. Beyond this
// number of fibers in the process a fiber ends with its thread.
inline constexpr int kept_fibers = 256;
inline constinit std::atomic<int> fibers{0};  // relaxed: a number that guards nothing

[[gnu::noinline]] HEDDLE_NO_TSAN inline void make_fiber(thread& stack) noexcept {
  stack.tools.fiber = __tsan_create_fiber(0);
  fibers.fetch_add(1, std::memory_order_relaxed);  // a number that guards nothing
}
[[gnu::noinline]] HEDDLE_NO_TSAN inline void end_fiber(thread& stack) noexcept {
  __tsan_destroy_fiber(stack.tools.fiber);
  stack.tools.fiber = nullptr;
  fibers.fetch_sub(1, std::memory_order_relaxed);  // a number that guards nothing
}
#endif

// Tell the tools that a stack exists, or does not exist any more.
inline void remember_stack([[maybe_unused]] thread& t) noexcept {
#if defined(HEDDLE_VALGRIND)
  t.tools.valgrind = VALGRIND_STACK_REGISTER(t.stack_memory.low, reinterpret_cast<char*>(&t));
#endif
}
inline void forget_stack([[maybe_unused]] thread& t) noexcept {
#if defined(HEDDLE_VALGRIND)
  VALGRIND_STACK_DEREGISTER(t.tools.valgrind);
#endif
#if defined(HEDDLE_TSAN)
  if (t.tools.fiber != nullptr) end_fiber(t);
#endif
#if defined(HEDDLE_ASAN)
  ASAN_UNPOISON_MEMORY_REGION(t.stack_memory.low, t.stack_memory.bytes - sizeof(thread));
#endif
}

// The place of a carrier's own stack, for the way back to it.
struct native_stack {
#if defined(HEDDLE_TSAN)
  void* fiber{nullptr};
#elif defined(HEDDLE_ASAN)
  const void* low{nullptr};
  std::size_t bytes{0};
  void* fake{nullptr};
#endif
};

#if defined(HEDDLE_ASAN)
// Returns the stack of the calling kernel thread. For a program's first thread the C library reads all of
// /proc/self/maps, which takes milliseconds under AddressSanitizer. One look for each thread is enough, because its
// stack stays in place.
inline const native_stack& stack_of_kernel_thread() noexcept {
  thread_local const native_stack found = [] {
    native_stack stack;
    pthread_attr_t attributes;
    void* low = nullptr;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &low, &stack.bytes);
      pthread_attr_destroy(&attributes);
    }
    stack.low = low;
    return stack;
  }();
  return found;
}
#endif

inline void describe_native_stack([[maybe_unused]] native_stack& stack) noexcept {
#if defined(HEDDLE_TSAN)
  stack.fiber = __tsan_get_current_fiber();
#elif defined(HEDDLE_ASAN)
  stack = stack_of_kernel_thread();
#endif
}

// The same where a user-level thread, which calls, lends its stack to the carrier of an arena's worker.
inline void describe_stack_of([[maybe_unused]] thread& t, [[maybe_unused]] native_stack& stack) noexcept {
#if defined(HEDDLE_TSAN)
  stack.fiber = __tsan_get_current_fiber();
#elif defined(HEDDLE_ASAN)
  thread& block = *t.stack;
  stack.low = block.stack_memory.low;
  stack.bytes = static_cast<std::size_t>(reinterpret_cast<char*>(&block) - static_cast<char*>(block.stack_memory.low));
#endif
}

// Called just before a switch, with threads that have stacks, because the tools know stacks and not threads. If `from`
// is null, the switch leaves the carrier's stack; if `to` is null, it goes back to that stack. `last` means that `from`
// never runs again. It is always inline, because a call would begin on one shadow stack and return on the other.
[[gnu::always_inline]] HEDDLE_NO_TSAN inline void before_switch([[maybe_unused]] thread* from,
                                                                [[maybe_unused]] thread* to,
                                                                [[maybe_unused]] native_stack& native,
                                                                [[maybe_unused]] bool last) noexcept {
#if defined(HEDDLE_TSAN)
  if (to != nullptr) to = to->stack;
  if (to != nullptr && to->tools.fiber == nullptr) make_fiber(*to);
  __tsan_switch_to_fiber(to != nullptr ? to->tools.fiber : native.fiber, 0);
  // relaxed: a number that guards nothing; at worst one fiber too many or too few is kept
  if (last && fibers.load(std::memory_order_relaxed) > kept_fibers) end_fiber(*from->stack);
#elif defined(HEDDLE_ASAN)
  if (from != nullptr) from = from->stack;
  if (to != nullptr) to = to->stack;
  void** save = last ? nullptr : from != nullptr ? &from->tools.fiber : &native.fake;
  const void* low = to != nullptr ? to->stack_memory.low : native.low;
  const std::size_t bytes =
      to != nullptr ? static_cast<std::size_t>(reinterpret_cast<char*>(to) - static_cast<char*>(to->stack_memory.low))
                    : native.bytes;
  __sanitizer_start_switch_fiber(save, low, bytes);
#endif
}

// Called first on the other side: in the `after` callback of the switch, on behalf of the context switched to.
HEDDLE_NO_TSAN inline void after_switch([[maybe_unused]] thread* to, [[maybe_unused]] native_stack& native) noexcept {
#if defined(HEDDLE_ASAN)
  if (to != nullptr) to = to->stack;
  __sanitizer_finish_switch_fiber(to != nullptr ? to->tools.fiber : native.fake, nullptr, nullptr);
  if (to != nullptr) to->tools.fiber = nullptr;
#endif
}

// Called when a stack is about to serve a new thread: AddressSanitizer's marks for the frames of the last thread do not
// hold any more.
inline void reuse_stack([[maybe_unused]] thread& t) noexcept {
#if defined(HEDDLE_ASAN)
  if (t.stack_memory.low == nullptr) return;  // a light thread that has no stack yet
  ASAN_UNPOISON_MEMORY_REGION(t.stack_memory.low, static_cast<std::size_t>(reinterpret_cast<char*>(&t) -
                                                                           static_cast<char*>(t.stack_memory.low)));
  t.tools.fiber = nullptr;
#endif
}

}  // namespace heddle::fiber

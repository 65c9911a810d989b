// Scheduling points at atomic operations. Code that is to be explored is compiled with -fsanitize=thread, which turns
// each atomic operation into a call. It is linked with the functions below instead of ThreadSanitizer's. Every such
// function lets the explorer choose the strand that goes on, and then performs the operation. So inline functions of
// headers are covered, too, and no source line is written for it. Plain accesses are no scheduling points. All
// operations are sequentially consistent, except those on atomics that a scenario has declared weak: a load of these
// may give an older value, as its order and the orders of others permit (src/platform/sim/weak_memory.hpp). The names
// and types are those of the compilers' interface (LLVM: compiler-rt/include/sanitizer/tsan_interface_atomic.h).
#include <cstddef>
#include <cstdint>

#include "platform/sim/engine.hpp"
#include "platform/sim/weak_memory.hpp"

namespace {

[[gnu::always_inline]] inline void interleave() noexcept {
  if (heddle::sim::active != nullptr) heddle::sim::active->interleave();
}

// Null if no atomics are weak.
[[gnu::always_inline]] inline heddle::sim::weak_memory* weak() noexcept {
  return heddle::sim::active != nullptr ? heddle::sim::active->weak() : nullptr;
}
inline unsigned self() noexcept { return heddle::sim::active->self().id; }

}  // namespace

// NOLINTBEGIN: names and signatures are given
#define HEDDLE_CHANGE(bits, name, done)                                                           \
  word##bits __tsan_atomic##bits##_##name(volatile word##bits* at, word##bits value, int order) { \
    interleave();                                                                                 \
    const word##bits before = done(at, value, __ATOMIC_SEQ_CST);                                  \
    if (auto* const w = weak(); w != nullptr) [[unlikely]]                                        \
      w->change(self(), at, before, *at, order);                                                  \
    return before;                                                                                \
  }

#define HEDDLE_COMPARE(bits, name, weakly)                                                                           \
  int __tsan_atomic##bits##_compare_exchange_##name(volatile word##bits* at, word##bits* expected, word##bits value, \
                                                    int order, int otherwise) {                                      \
    interleave();                                                                                                    \
    const bool done = __atomic_compare_exchange_n(at, expected, value, weakly, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
    if (auto* const w = weak(); w != nullptr) [[unlikely]]                                                           \
      done ? w->change(self(), at, *expected, value, order) : w->look(self(), at, *at, otherwise);                   \
    return done;                                                                                                     \
  }

#define HEDDLE_ATOMIC(bits)                                                                           \
  using word##bits = std::uint##bits##_t;                                                             \
  word##bits __tsan_atomic##bits##_load(const volatile word##bits* at, int order) {                   \
    interleave();                                                                                     \
    const word##bits value = __atomic_load_n(at, __ATOMIC_SEQ_CST);                                   \
    if (auto* const w = weak(); w != nullptr) [[unlikely]]                                            \
      return static_cast<word##bits>(w->load(self(), at, value, order));                              \
    return value;                                                                                     \
  }                                                                                                   \
  void __tsan_atomic##bits##_store(volatile word##bits* at, word##bits value, int order) {            \
    interleave();                                                                                     \
    if (auto* const w = weak(); w != nullptr) [[unlikely]]                                            \
      w->store(self(), at, *at, value, order);                                                        \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                   \
  HEDDLE_CHANGE(bits, exchange, __atomic_exchange_n)                                                  \
  HEDDLE_CHANGE(bits, fetch_add, __atomic_fetch_add)                                                  \
  HEDDLE_CHANGE(bits, fetch_sub, __atomic_fetch_sub)                                                  \
  HEDDLE_CHANGE(bits, fetch_and, __atomic_fetch_and)                                                  \
  HEDDLE_CHANGE(bits, fetch_or, __atomic_fetch_or)                                                    \
  HEDDLE_CHANGE(bits, fetch_xor, __atomic_fetch_xor)                                                  \
  HEDDLE_COMPARE(bits, strong, false)                                                                 \
  HEDDLE_COMPARE(bits, weak, true)                                                                    \
  word##bits __tsan_atomic##bits##_compare_exchange_val(volatile word##bits* at, word##bits expected, \
                                                        word##bits value, int order, int otherwise) { \
    __tsan_atomic##bits##_compare_exchange_strong(at, &expected, value, order, otherwise);            \
    return expected;                                                                                  \
  }

#define HEDDLE_PLAIN(bytes)                    \
  void __tsan_read##bytes(void*) {}            \
  void __tsan_write##bytes(void*) {}           \
  void __tsan_unaligned_read##bytes(void*) {}  \
  void __tsan_unaligned_write##bytes(void*) {} \
  void __tsan_volatile_read##bytes(void*) {}   \
  void __tsan_volatile_write##bytes(void*) {}

extern "C" {

HEDDLE_ATOMIC(8)
HEDDLE_ATOMIC(16)
HEDDLE_ATOMIC(32)
HEDDLE_ATOMIC(64)

HEDDLE_PLAIN(1)
HEDDLE_PLAIN(2)
HEDDLE_PLAIN(4)
HEDDLE_PLAIN(8)
HEDDLE_PLAIN(16)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void*) {}
void __tsan_read_range(void*, std::size_t) {}
void __tsan_write_range(void*, std::size_t) {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_atomic_thread_fence(int order) {
  interleave();
  if (auto* const w = weak(); w != nullptr) [[unlikely]]
    w->fence(self(), order);
}
void __tsan_atomic_signal_fence(int) {}
void* __tsan_memcpy(void* to, const void* from, std::size_t n) { return __builtin_memcpy(to, from, n); }
void* __tsan_memmove(void* to, const void* from, std::size_t n) { return __builtin_memmove(to, from, n); }
void* __tsan_memset(void* to, int value, std::size_t n) { return __builtin_memset(to, value, n); }
}
// NOLINTEND

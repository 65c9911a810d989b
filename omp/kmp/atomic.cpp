// The typed atomic functions of the LLVM ABI, made from atomic.def. The first two arguments of each, the place in the
// source and the thread's number, are not needed.
#include "omp/core/locks/atomic.hpp"
#include "omp/ompt/mutexes.hpp"

#include <heddle/export.hpp>
#include <heddle/mutex.hpp>

using namespace heddle::omp::atomics;  // NOLINT: the table names types of it

#define HEDDLE_ENTRY extern "C" HEDDLE_API

#define HEDDLE_UPDATE(name, type, suffix, operation, operand)                                         \
  HEDDLE_ENTRY void __kmpc_atomic_##name##_##suffix(void*, int, type* x, operand e) {                 \
    apply<operations::operation>(x, e);                                                               \
  }                                                                                                   \
  HEDDLE_ENTRY type __kmpc_atomic_##name##_##suffix##_cpt(void*, int, type* x, operand e, int flag) { \
    const auto [before, after] = apply<operations::operation>(x, e);                                  \
    return flag != 0 ? after : before;                                                                \
  }
#define HEDDLE_REVERSED(name, type, suffix, operation, operand)                                           \
  HEDDLE_ENTRY void __kmpc_atomic_##name##_##suffix##_rev(void*, int, type* x, operand e) {               \
    apply_reversed<operations::operation>(x, e);                                                          \
  }                                                                                                       \
  HEDDLE_ENTRY type __kmpc_atomic_##name##_##suffix##_cpt_rev(void*, int, type* x, operand e, int flag) { \
    const auto [before, after] = apply_reversed<operations::operation>(x, e);                             \
    return flag != 0 ? after : before;                                                                    \
  }
#define HEDDLE_ACCESS(name, type)                                                      \
  HEDDLE_ENTRY type __kmpc_atomic_##name##_rd(void*, int, type* x) { return read(x); } \
  HEDDLE_ENTRY void __kmpc_atomic_##name##_wr(void*, int, type* x, type e) { swap(x, e); }
#define HEDDLE_SWAP(name, type) \
  HEDDLE_ENTRY type __kmpc_atomic_##name##_swp(void*, int, type* x, type e) { return swap(x, e); }

#define HEDDLE_FIXED(name, type, unsigned_type)      \
  HEDDLE_FIXED_OPERATIONS(name, type, unsigned_type) \
  HEDDLE_ACCESS(name, type) HEDDLE_SWAP(name, type)
#define HEDDLE_FLOAT(name, type)      \
  HEDDLE_FLOAT_OPERATIONS(name, type) \
  HEDDLE_ACCESS(name, type) HEDDLE_SWAP(name, type)
#define HEDDLE_COMPLEX(name, type)      \
  HEDDLE_COMPLEX_OPERATIONS(name, type) \
  HEDDLE_ACCESS(name, type) HEDDLE_SWAP(name, type)

#define HEDDLE_MIXED(name, type, operation, suffix, operand)                                        \
  HEDDLE_ENTRY void __kmpc_atomic_##name##_##operation##_##suffix(void*, int, type* x, operand e) { \
    apply<operations::operation>(x, e);                                                             \
  }

#define HEDDLE_QUAD_UPDATE(name, type, operation)                                                        \
  HEDDLE_ENTRY void __kmpc_atomic_##name##_##operation##_fp(void*, int, type* x, quad e) {               \
    apply<operations::operation>(x, e);                                                                  \
  }                                                                                                      \
  HEDDLE_ENTRY type __kmpc_atomic_##name##_##operation##_cpt_fp(void*, int, type* x, quad e, int flag) { \
    const auto [before, after] = apply<operations::operation>(x, e);                                     \
    return flag != 0 ? after : before;                                                                   \
  }
#define HEDDLE_QUAD_REVERSED(name, type, operation)                                                          \
  HEDDLE_ENTRY void __kmpc_atomic_##name##_##operation##_rev_fp(void*, int, type* x, quad e) {               \
    apply_reversed<operations::operation>(x, e);                                                             \
  }                                                                                                          \
  HEDDLE_ENTRY type __kmpc_atomic_##name##_##operation##_cpt_rev_fp(void*, int, type* x, quad e, int flag) { \
    const auto [before, after] = apply_reversed<operations::operation>(x, e);                                \
    return flag != 0 ? after : before;                                                                       \
  }
#define HEDDLE_QUAD(name, type)         \
  HEDDLE_QUAD_UPDATE(name, type, add)   \
  HEDDLE_QUAD_UPDATE(name, type, sub)   \
  HEDDLE_QUAD_UPDATE(name, type, mul)   \
  HEDDLE_QUAD_UPDATE(name, type, div)   \
  HEDDLE_QUAD_REVERSED(name, type, sub) \
  HEDDLE_QUAD_REVERSED(name, type, div)

#include "omp/kmp/atomic.def"

// For cmplx4 the captured value goes where the caller says.
#undef HEDDLE_UPDATE
#undef HEDDLE_REVERSED
#define HEDDLE_UPDATE(name, type, suffix, operation, operand)                                                    \
  HEDDLE_ENTRY void __kmpc_atomic_##name##_##suffix(void*, int, type* x, operand e) {                            \
    apply<operations::operation>(x, e);                                                                          \
  }                                                                                                              \
  HEDDLE_ENTRY void __kmpc_atomic_##name##_##suffix##_cpt(void*, int, type* x, operand e, type* out, int flag) { \
    const auto [before, after] = apply<operations::operation>(x, e);                                             \
    *out = flag != 0 ? after : before;                                                                           \
  }
#define HEDDLE_REVERSED(name, type, suffix, operation, operand)                                                      \
  HEDDLE_ENTRY void __kmpc_atomic_##name##_##suffix##_rev(void*, int, type* x, operand e) {                          \
    apply_reversed<operations::operation>(x, e);                                                                     \
  }                                                                                                                  \
  HEDDLE_ENTRY void __kmpc_atomic_##name##_##suffix##_cpt_rev(void*, int, type* x, operand e, type* out, int flag) { \
    const auto [before, after] = apply_reversed<operations::operation>(x, e);                                        \
    *out = flag != 0 ? after : before;                                                                               \
  }
#define HEDDLE_COMPLEX_OUT(name, type)  \
  HEDDLE_COMPLEX_OPERATIONS(name, type) \
  HEDDLE_ACCESS(name, type)             \
  HEDDLE_ENTRY void __kmpc_atomic_##name##_swp(void*, int, type* x, type e, type* out) { *out = swap(x, e); }

// The update is the call f(result, x, operand).
#define HEDDLE_GENERIC(size)                                                                             \
  HEDDLE_ENTRY void __kmpc_atomic_##size(void*, int, void* x, void* e, void (*f)(void*, void*, void*)) { \
    struct value {                                                                                       \
      alignas(16) unsigned char bytes[(size)];                                                           \
    };                                                                                                   \
    struct packed {                                                                                      \
      unsigned char bytes[(size)];                                                                       \
    };                                                                                                   \
    update(static_cast<packed*>(x), [=](const packed& before) {                                          \
      value from, to;                                                                                    \
      std::memcpy(from.bytes, before.bytes, (size));                                                     \
      f(to.bytes, from.bytes, e);                                                                        \
      packed after;                                                                                      \
      std::memcpy(after.bytes, to.bytes, (size));                                                        \
      return after;                                                                                      \
    });                                                                                                  \
  }

#define HEDDLE_COMPARE(size, type)                                                                                  \
  HEDDLE_ENTRY bool __kmpc_atomic_bool_##size##_cas(void*, int, type* x, type expected, type wanted) {              \
    return __atomic_compare_exchange_n(x, &expected, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
  }                                                                                                                 \
  HEDDLE_ENTRY bool __kmpc_atomic_bool_##size##_cas_cpt(void*, int, type* x, type expected, type wanted, type* v) { \
    const bool done = __atomic_compare_exchange_n(x, &expected, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    if (!done) *v = expected;                                                                                       \
    return done;                                                                                                    \
  }                                                                                                                 \
  HEDDLE_ENTRY type __kmpc_atomic_val_##size##_cas(void*, int, type* x, type expected, type wanted) {               \
    __atomic_compare_exchange_n(x, &expected, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                   \
    return expected;                                                                                                \
  }                                                                                                                 \
  HEDDLE_ENTRY type __kmpc_atomic_val_##size##_cas_cpt(void*, int, type* x, type expected, type wanted, type* v) {  \
    const bool done = __atomic_compare_exchange_n(x, &expected, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    *v = done ? wanted : expected;                                                                                  \
    return expected;                                                                                                \
  }

#include "omp/kmp/atomic.def"

HEDDLE_ENTRY void __kmpc_atomic_start() {
  heddle::omp::ompt::take([] { lock_of_regions().lock(); }, ompt_mutex_atomic, &lock_of_regions(),
                          __builtin_return_address(0));
}
HEDDLE_ENTRY void __kmpc_atomic_end() {
  heddle::omp::ompt::release([] { lock_of_regions().unlock(); }, ompt_mutex_atomic, &lock_of_regions(),
                             __builtin_return_address(0));
}

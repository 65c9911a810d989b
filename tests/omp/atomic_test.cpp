// Typed atomic functions: each against the expression that it stands for, alone and from four threads at once.
#include "omp/core/locks/atomic.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using heddle::omp::atomics::complex_quad;
using heddle::omp::atomics::quad;

constexpr int threads = 4;
constexpr int turns = 7;  // of each thread: few, for shifted numbers become 0
constexpr int rounds = 20;

// Four threads that all run the same, once a round.
class crew {
 public:
  crew() {
    for (int i = 0; i < threads; ++i) {
      members_.emplace_back([this] {
        for (;;) {
          line_.arrive_and_wait();
          if (ends_) return;
          work_(data_);
          line_.arrive_and_wait();
        }
      });
    }
  }
  ~crew() {
    ends_ = true;
    line_.arrive_and_wait();
    for (std::thread& m : members_) m.join();
  }
  template <class Work>
  void run(Work work) {
    work_ = [](void* data) { (*static_cast<Work*>(data))(); };
    data_ = &work;
    line_.arrive_and_wait();
    line_.arrive_and_wait();
  }

 private:
  std::barrier<> line_{threads + 1};
  std::vector<std::thread> members_;
  void (*work_)(void*){nullptr};
  void* data_{nullptr};
  bool ends_{false};
};

crew& four() {
  static crew made;
  return made;
}

int functions_checked = 0;

template <class T, class E, class Update, class Capture, class Oracle>
void check(const char* name, Update update, Capture capture, Oracle oracle, std::initializer_list<int> values,
           std::initializer_list<double> operands) {
  ++functions_checked;
  for (const int v : values) {
    for (const double o : operands) {
      const T start = static_cast<T>(v);
      const E operand = static_cast<E>(o);
      T x = start;
      update(&x, operand);
      EXPECT_TRUE(x == oracle(start, operand)) << name << ' ' << v << ' ' << o;
      for (const int flag : {0, 1}) {
        T y = start;
        const T got = capture(&y, operand, flag);
        EXPECT_TRUE(y == oracle(start, operand)) << name << "_cpt " << v << ' ' << o;
        EXPECT_TRUE(got == (flag != 0 ? y : start)) << name << "_cpt " << v << ' ' << o << ' ' << flag;
      }
    }
  }
  // The same operand from all threads: however they interleave, it is as often as they say one after the other.
  const T start = static_cast<T>(*values.begin());
  const E operand = static_cast<E>(*operands.begin());
  T wanted = start;
  for (int i = 0; i < threads * turns; ++i) wanted = oracle(wanted, operand);
  for (int r = 0; r < rounds; ++r) {
    T x = start;
    four().run([&] {
      for (int i = 0; i < turns; ++i) {
        if (i % 2 == 0) update(&x, operand);
        else capture(&x, operand, 0);
      }
    });
    // NaN, which division by zero leads to, is not equal to itself.
    EXPECT_TRUE(x == wanted || (x != x && wanted != wanted)) << name << " of four threads";
  }
}

template <class T, class Read, class Write, class Swap>
void check_access(const char* name, Read read, Write write, Swap swap) {
  T x = static_cast<T>(3);
  EXPECT_TRUE(read(&x) == static_cast<T>(3)) << name;
  write(&x, static_cast<T>(5));
  EXPECT_TRUE(x == static_cast<T>(5)) << name;
  EXPECT_TRUE(swap(&x, static_cast<T>(9)) == static_cast<T>(5)) << name;
  EXPECT_TRUE(x == static_cast<T>(9)) << name;
  // No value is torn: all that anybody sees has been written.
  std::atomic<bool> torn{false};
  four().run([&] {
    for (int i = 0; i < 200; ++i) {
      const T value = static_cast<T>(i % 100);
      write(&x, value);
      const T seen = read(&x);
      bool known = false;
      for (int j = 0; j < 100; ++j) known = known || seen == static_cast<T>(j);
      if (!known) torn = true;
    }
  });
  EXPECT_FALSE(torn) << name;
}

#define ORACLE_add(a, b) ((a) + (b))
#define ORACLE_sub(a, b) ((a) - (b))
#define ORACLE_mul(a, b) ((a) * (b))
#define ORACLE_div(a, b) ((a) / (b))
#define ORACLE_andb(a, b) ((a) & (b))
#define ORACLE_orb(a, b) ((a) | (b))
#define ORACLE_xor(a, b) ((a) ^ (b))
#define ORACLE_neqv(a, b) ((a) ^ (b))
#define ORACLE_eqv(a, b) (~((a) ^ (b)))
#define ORACLE_andl(a, b) ((a) && (b))
#define ORACLE_orl(a, b) ((a) || (b))
#define ORACLE_shl(a, b) ((a) << (b))
#define ORACLE_shr(a, b) ((a) >> (b))
#define ORACLE_min(a, b) ((a) < (b) ? (a) : (b))
#define ORACLE_max(a, b) ((a) > (b) ? (a) : (b))

std::vector<void (*)()>& cases() {
  static std::vector<void (*)()> made;
  return made;
}

}  // namespace

// First the declarations, then the checks.
#define HEDDLE_UPDATE(name, type, suffix, operation, operand)                  \
  extern "C" void __kmpc_atomic_##name##_##suffix(void*, int, type*, operand); \
  extern "C" type __kmpc_atomic_##name##_##suffix##_cpt(void*, int, type*, operand, int);
#define HEDDLE_REVERSED(name, type, suffix, operation, operand)                      \
  extern "C" void __kmpc_atomic_##name##_##suffix##_rev(void*, int, type*, operand); \
  extern "C" type __kmpc_atomic_##name##_##suffix##_cpt_rev(void*, int, type*, operand, int);
#define HEDDLE_ACCESS(name, type)                                     \
  extern "C" type __kmpc_atomic_##name##_rd(void*, int, type*);       \
  extern "C" void __kmpc_atomic_##name##_wr(void*, int, type*, type); \
  extern "C" type __kmpc_atomic_##name##_swp(void*, int, type*, type);
#define HEDDLE_FIXED(name, type, unsigned_type) \
  HEDDLE_FIXED_OPERATIONS(name, type, unsigned_type) HEDDLE_ACCESS(name, type)
#define HEDDLE_FLOAT(name, type) HEDDLE_FLOAT_OPERATIONS(name, type) HEDDLE_ACCESS(name, type)
#define HEDDLE_COMPLEX(name, type) HEDDLE_COMPLEX_OPERATIONS(name, type) HEDDLE_ACCESS(name, type)
#define HEDDLE_MIXED(name, type, operation, suffix, operand) \
  extern "C" void __kmpc_atomic_##name##_##operation##_##suffix(void*, int, type*, operand);
#define HEDDLE_QUAD_ONE(name, type, operation)                                      \
  extern "C" void __kmpc_atomic_##name##_##operation##_fp(void*, int, type*, quad); \
  extern "C" type __kmpc_atomic_##name##_##operation##_cpt_fp(void*, int, type*, quad, int);
#define HEDDLE_QUAD_REVERSED(name, type, operation)                                     \
  extern "C" void __kmpc_atomic_##name##_##operation##_rev_fp(void*, int, type*, quad); \
  extern "C" type __kmpc_atomic_##name##_##operation##_cpt_rev_fp(void*, int, type*, quad, int);
#define HEDDLE_QUAD(name, type)    \
  HEDDLE_QUAD_ONE(name, type, add) \
  HEDDLE_QUAD_ONE(name, type, sub) \
  HEDDLE_QUAD_ONE(name, type, mul) \
  HEDDLE_QUAD_ONE(name, type, div) HEDDLE_QUAD_REVERSED(name, type, sub) HEDDLE_QUAD_REVERSED(name, type, div)
#define HEDDLE_GENERIC(size) \
  extern "C" void __kmpc_atomic_##size(void*, int, void*, void*, void (*)(void*, void*, void*));
#define HEDDLE_COMPARE(size, type)                                                           \
  extern "C" bool __kmpc_atomic_bool_##size##_cas(void*, int, type*, type, type);            \
  extern "C" bool __kmpc_atomic_bool_##size##_cas_cpt(void*, int, type*, type, type, type*); \
  extern "C" type __kmpc_atomic_val_##size##_cas(void*, int, type*, type, type);             \
  extern "C" type __kmpc_atomic_val_##size##_cas_cpt(void*, int, type*, type, type, type*);
#include "omp/kmp/atomic.def"

// cmplx4 captures through a pointer.
#undef HEDDLE_UPDATE
#undef HEDDLE_REVERSED
#define HEDDLE_UPDATE(name, type, suffix, operation, operand)                  \
  extern "C" void __kmpc_atomic_##name##_##suffix(void*, int, type*, operand); \
  extern "C" void __kmpc_atomic_##name##_##suffix##_cpt(void*, int, type*, operand, type*, int);
#define HEDDLE_REVERSED(name, type, suffix, operation, operand)                      \
  extern "C" void __kmpc_atomic_##name##_##suffix##_rev(void*, int, type*, operand); \
  extern "C" void __kmpc_atomic_##name##_##suffix##_cpt_rev(void*, int, type*, operand, type*, int);
#define HEDDLE_COMPLEX_OUT(name, type)                                \
  HEDDLE_COMPLEX_OPERATIONS(name, type)                               \
  extern "C" type __kmpc_atomic_##name##_rd(void*, int, type*);       \
  extern "C" void __kmpc_atomic_##name##_wr(void*, int, type*, type); \
  extern "C" void __kmpc_atomic_##name##_swp(void*, int, type*, type, type*);
#include "omp/kmp/atomic.def"
#undef HEDDLE_UPDATE
#undef HEDDLE_REVERSED

#define CASES_NAME2(line) cases_at_##line
#define CASES_NAME(line) CASES_NAME2(line)

namespace {

#define CHECK_WITH(label, type, operand, update_call, capture_call, oracle, values, operands)                       \
  cases().push_back([] {                                                                                            \
    check<type, operand>(                                                                                           \
        label, [](type* x, operand e) { update_call; }, [](type* x, operand e, int flag) -> type { capture_call; }, \
        [](type x, operand e) -> type { return static_cast<type>(oracle); }, values, operands);                     \
  });
#define VALUES_MANY (std::initializer_list<int>{7, 1, 3, 11, 100, -5})
#define VALUES_SMALL (std::initializer_list<int>{1, 7, 3, 11})
#define OPERANDS (std::initializer_list<double>{2, 1, 3, 5})

#define HEDDLE_UPDATE(name, type, suffix, operation, operand)                                                          \
  CHECK_WITH(#name "_" #suffix, type, operand, __kmpc_atomic_##name##_##suffix(nullptr, 0, x, e),                      \
             return __kmpc_atomic_##name##_##suffix##_cpt(nullptr, 0, x, e, flag), ORACLE_##suffix(x, e), VALUES_MANY, \
             OPERANDS)
#define HEDDLE_REVERSED(name, type, suffix, operation, operand)                                                 \
  CHECK_WITH(#name "_" #suffix "_rev", type, operand, __kmpc_atomic_##name##_##suffix##_rev(nullptr, 0, x, e),  \
             return __kmpc_atomic_##name##_##suffix##_cpt_rev(nullptr, 0, x, e, flag), REVERSED_##suffix(x, e), \
             VALUES_SMALL, OPERANDS)
// Under contention x runs through values that C has no result for: division by zero, which traps, must not come up, and
// shifts count modulo the width.
#define REVERSED_sub(x, e) ((e) - (x))
#define REVERSED_div(x, e) ((e) / (x))
#define REVERSED_shl(x, e) ((e) << ((x) & (sizeof(e) == 8 ? 63 : 31)))
#define REVERSED_shr(x, e) ((e) >> ((x) & (sizeof(e) == 8 ? 63 : 31)))

#define HEDDLE_ACCESS_CHECK(name, type)                                                \
  cases().push_back([] {                                                               \
    check_access<type>(                                                                \
        #name, [](type* x) { return __kmpc_atomic_##name##_rd(nullptr, 0, x); },       \
        [](type* x, type e) { __kmpc_atomic_##name##_wr(nullptr, 0, x, e); },          \
        [](type* x, type e) { return __kmpc_atomic_##name##_swp(nullptr, 0, x, e); }); \
  });

void fill_cases() {
#define HEDDLE_FIXED(name, type, unsigned_type) \
  HEDDLE_FIXED_OPERATIONS(name, type, unsigned_type) HEDDLE_ACCESS_CHECK(name, type)
#define HEDDLE_FLOAT(name, type) HEDDLE_FLOAT_OPERATIONS(name, type) HEDDLE_ACCESS_CHECK(name, type)
#define HEDDLE_COMPLEX(name, type) HEDDLE_COMPLEX_OPERATIONS(name, type) HEDDLE_ACCESS_CHECK(name, type)
#undef HEDDLE_QUAD_ONE
#undef HEDDLE_QUAD_REVERSED
#define HEDDLE_QUAD_ONE(name, type, operation)                                                                  \
  CHECK_WITH(#name "_" #operation "_fp", type, quad, __kmpc_atomic_##name##_##operation##_fp(nullptr, 0, x, e), \
             return __kmpc_atomic_##name##_##operation##_cpt_fp(nullptr, 0, x, e, flag),                        \
             ORACLE_##operation(static_cast<quad>(x), e), (std::initializer_list<int>{60, 20}),                 \
             (std::initializer_list<double>{1, 1.5}))
#define HEDDLE_QUAD_REVERSED(name, type, operation)                                            \
  CHECK_WITH(#name "_" #operation "_rev_fp", type, quad,                                       \
             __kmpc_atomic_##name##_##operation##_rev_fp(nullptr, 0, x, e),                    \
             return __kmpc_atomic_##name##_##operation##_cpt_rev_fp(nullptr, 0, x, e, flag),   \
             ORACLE_##operation(e, static_cast<quad>(x)), (std::initializer_list<int>{6, 20}), \
             (std::initializer_list<double>{60, 60.5}))
#define HEDDLE_QUAD(name, type)    \
  HEDDLE_QUAD_ONE(name, type, add) \
  HEDDLE_QUAD_ONE(name, type, sub) \
  HEDDLE_QUAD_ONE(name, type, mul) \
  HEDDLE_QUAD_ONE(name, type, div) HEDDLE_QUAD_REVERSED(name, type, sub) HEDDLE_QUAD_REVERSED(name, type, div)
#define HEDDLE_MIXED(name, type, operation, suffix, operand)                                          \
  CHECK_WITH(#name "_" #operation "_" #suffix, type, operand,                                         \
             __kmpc_atomic_##name##_##operation##_##suffix(nullptr, 0, x, e), const type before = *x; \
             __kmpc_atomic_##name##_##operation##_##suffix(nullptr, 0, x, e);                         \
             return flag != 0 ? *x : before, ORACLE_##operation(static_cast<operand>(x), e),          \
                    (std::initializer_list<int>{60, 20}), (std::initializer_list<double>{1, 1.25}))
#include "omp/kmp/atomic.def"
#undef HEDDLE_UPDATE
#undef HEDDLE_REVERSED
#define HEDDLE_UPDATE(name, type, suffix, operation, operand)                                               \
  CHECK_WITH(#name "_" #suffix, type, operand, __kmpc_atomic_##name##_##suffix(nullptr, 0, x, e), type got; \
             __kmpc_atomic_##name##_##suffix##_cpt(nullptr, 0, x, e, &got, flag);                           \
             return got, ORACLE_##suffix(x, e), VALUES_MANY, OPERANDS)
#define HEDDLE_REVERSED(name, type, suffix, operation, operand)                                                \
  CHECK_WITH(#name "_" #suffix "_rev", type, operand, __kmpc_atomic_##name##_##suffix##_rev(nullptr, 0, x, e), \
             type got;                                                                                         \
             __kmpc_atomic_##name##_##suffix##_cpt_rev(nullptr, 0, x, e, &got, flag);                          \
             return got, REVERSED_##suffix(x, e), VALUES_SMALL, OPERANDS)
#define HEDDLE_COMPLEX_OUT(name, type)                                           \
  HEDDLE_COMPLEX_OPERATIONS(name, type)                                          \
  cases().push_back([] {                                                         \
    check_access<type>(                                                          \
        #name, [](type* x) { return __kmpc_atomic_##name##_rd(nullptr, 0, x); }, \
        [](type* x, type e) { __kmpc_atomic_##name##_wr(nullptr, 0, x, e); },    \
        [](type* x, type e) {                                                    \
          type got;                                                              \
          __kmpc_atomic_##name##_swp(nullptr, 0, x, e, &got);                    \
          return got;                                                            \
        });                                                                      \
  });
#include "omp/kmp/atomic.def"
}

TEST(Atomic, EveryTypedFunctionIsTheExpressionItStandsFor) {
  fill_cases();
  for (const auto one : cases()) one();
  // 340 of LLVM's and 166 more of Intel's, less those for access, generic ones and exchanges; two a check, but mixed.
  EXPECT_EQ(functions_checked, 23 * 4 + 8 * 4 + 6 * 4 + 16 + 6 * 11);
}

template <std::size_t Size>
struct block {
  unsigned char bytes[Size];
};

template <std::size_t Size>
void check_generic(void (*function)(void*, int, void*, void*, void (*)(void*, void*, void*))) {
  block<Size> x{};
  block<Size> one{};
  one.bytes[0] = 1;
  four().run([&] {
    for (int i = 0; i < 50; ++i) {
      function(nullptr, 0, &x, &one, [](void* result, void* left, void* right) {
        auto* const r = static_cast<unsigned char*>(result);
        const auto* const a = static_cast<const unsigned char*>(left);
        const auto* const b = static_cast<const unsigned char*>(right);
        for (std::size_t k = 0; k < Size; ++k) r[k] = static_cast<unsigned char>(a[k] + b[0]);
      });
    }
  });
  for (const unsigned char byte : x.bytes) EXPECT_EQ(byte, 200) << Size;
}

TEST(Atomic, GenericFunctionsApplyWhatTheyAreGiven) {
#define HEDDLE_GENERIC(size) check_generic<size>(__kmpc_atomic_##size);
#include "omp/kmp/atomic.def"
}

template <class T>
void check_compare(bool (*set)(void*, int, T*, T, T), bool (*set_capture)(void*, int, T*, T, T, T*),
                   T (*value)(void*, int, T*, T, T), T (*value_capture)(void*, int, T*, T, T, T*)) {
  T x = 3, v = 99;
  EXPECT_FALSE(set(nullptr, 0, &x, 4, 5));
  EXPECT_EQ(x, 3);
  EXPECT_TRUE(set(nullptr, 0, &x, 3, 5));
  EXPECT_EQ(x, 5);
  EXPECT_TRUE(set_capture(nullptr, 0, &x, 5, 6, &v));
  EXPECT_EQ(v, 99);  // untouched where the exchange is made
  EXPECT_FALSE(set_capture(nullptr, 0, &x, 5, 7, &v));
  EXPECT_EQ(v, 6);
  EXPECT_EQ(value(nullptr, 0, &x, 1, 2), 6);
  EXPECT_EQ(value(nullptr, 0, &x, 6, 8), 6);
  EXPECT_EQ(x, 8);
  EXPECT_EQ(value_capture(nullptr, 0, &x, 8, 9, &v), 8);
  EXPECT_EQ(v, 9);
  EXPECT_EQ(value_capture(nullptr, 0, &x, 8, 1, &v), 9);
  EXPECT_EQ(v, 9);
}

TEST(Atomic, CompareAndExchange) {
#define HEDDLE_COMPARE(size, type)                                                          \
  check_compare<type>(__kmpc_atomic_bool_##size##_cas, __kmpc_atomic_bool_##size##_cas_cpt, \
                      __kmpc_atomic_val_##size##_cas, __kmpc_atomic_val_##size##_cas_cpt);
#include "omp/kmp/atomic.def"
}

TEST(Atomic, NoTwoCaptureTheSame) {
  std::int32_t x = 0;
  std::vector<std::vector<std::int32_t>> seen(threads);
  std::atomic<std::size_t> next{0};
  four().run([&] {
    std::vector<std::int32_t>& mine = seen[next++];
    for (int i = 0; i < 1000; ++i) mine.push_back(__kmpc_atomic_fixed4_add_cpt(nullptr, 0, &x, 1, 0));
  });
  std::set<std::int32_t> all;
  for (const auto& of_one : seen) all.insert(of_one.begin(), of_one.end());
  EXPECT_EQ(all.size(), 4000u);
  EXPECT_EQ(x, 4000);
}

}  // namespace

extern "C" {
void __kmpc_atomic_start();
void __kmpc_atomic_end();
void GOMP_atomic_start();
void GOMP_atomic_end();
}

namespace {

TEST(Atomic, RegionsExcludeEachOtherInBothAbis) {
  long count = 0;
  std::atomic<int> next{0};
  four().run([&] {
    const bool gnu = next++ % 2 == 0;
    for (int i = 0; i < 1000; ++i) {
      gnu ? GOMP_atomic_start() : __kmpc_atomic_start();
      ++count;
      gnu ? GOMP_atomic_end() : __kmpc_atomic_end();
    }
  });
  EXPECT_EQ(count, 4000);
}

// The functions that clang calls for objects of any size: objects of three eights, packed so that they are not aligned.
struct [[gnu::packed]] odd {
  char before;
  std::int64_t parts[3];
};

extern "C" {
void load_any(std::size_t, const void*, void*, int) __asm__("__atomic_load");
void store_any(std::size_t, void*, const void*, int) __asm__("__atomic_store");
void exchange_any(std::size_t, void*, void*, void*, int) __asm__("__atomic_exchange");
bool compare_any(std::size_t, void*, void*, void*, int, int) __asm__("__atomic_compare_exchange");
}

TEST(Atomic, ObjectsOfAnySize) {
  for (const std::size_t size : {1, 2, 3, 4, 5, 8, 12, 16, 24}) {
    alignas(16) unsigned char x[24] = {}, from[24], to[24] = {}, wrong[24] = {};
    for (std::size_t i = 0; i < size; ++i) from[i] = static_cast<unsigned char>(i + 1);
    store_any(size, x, from, __ATOMIC_SEQ_CST);
    load_any(size, x, to, __ATOMIC_SEQ_CST);
    EXPECT_EQ(std::memcmp(to, from, size), 0) << size;
    EXPECT_FALSE(compare_any(size, x, wrong, from, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    EXPECT_EQ(std::memcmp(wrong, from, size), 0) << size;  // what was found
    unsigned char zeros[24] = {};
    EXPECT_TRUE(compare_any(size, x, wrong, zeros, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    exchange_any(size, x, from, to, __ATOMIC_SEQ_CST);
    EXPECT_EQ(std::memcmp(to, zeros, size), 0) << size;
    EXPECT_EQ(std::memcmp(x, from, size), 0) << size;
  }
}

TEST(Atomic, AnObjectThatIsNotAlignedIsExchangedWhole) {
  odd x{};
  four().run([&] {
    std::int64_t seen[3], wanted[3];
    for (int i = 0; i < 500; ++i) {
      load_any(sizeof seen, x.parts, seen, __ATOMIC_SEQ_CST);
      do {
        for (int k = 0; k < 3; ++k) wanted[k] = seen[k] + k + 1;
      } while (!compare_any(sizeof seen, x.parts, seen, wanted, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    }
  });
  EXPECT_EQ(x.parts[0], 2000);
  EXPECT_EQ(x.parts[1], 4000);
  EXPECT_EQ(x.parts[2], 6000);
}

}  // namespace

// Atomic updates of typed memory, as the functions of atomic regions need them (OpenMP 5.1, section 2.19.7). They use
// one exchange if the processor has one for the size, else a lock that the address chooses.
//
// All ways to access an object agree, because each decides by the object's size and address alone. The ways are the
// typed functions, the functions that take a function to apply, and the generic __atomic_load and similar functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "omp/seam.hpp"

namespace heddle {
class mutex;
}

namespace heddle::omp::atomics {

#if defined(__SIZEOF_FLOAT128__)
using quad = __float128;
typedef _Complex float complex_quad __attribute__((mode(TC)));  // NOLINT: the attribute has no form for `using`
#else
using quad = long double;
using complex_quad = _Complex long double;
#endif

// The lock of an address. Waiting threads park, so it may be held by a thread that is preempted.
heddle::mutex& lock_of(const void* where) noexcept;
// The lock of atomic regions that consist of code between two calls: __kmpc_atomic_start, GOMP_atomic_start.
heddle::mutex& lock_of_regions() noexcept;

// Runs body under the lock of an address.
void locked(const void* where, void (*body)(void* argument), void* argument);
template <class Body>
void with_lock(const void* where, Body body) {
  locked(where, [](void* argument) { (*static_cast<Body*>(argument))(); }, &body);
}

template <std::size_t Size>
struct bits_of_size {
  using type = void;
};
template <>
struct bits_of_size<1> {
  using type = std::uint8_t;
};
template <>
struct bits_of_size<2> {
  using type = std::uint16_t;
};
template <>
struct bits_of_size<4> {
  using type = std::uint32_t;
};
template <>
struct bits_of_size<8> {
  using type = std::uint64_t;
};

template <std::size_t Size>
inline constexpr bool has_exchange = Size == 1 || Size == 2 || Size == 4 || Size == 8;

// Whether the processor exchanges `Size` bytes at that address at once. x86 does so at any address.
template <std::size_t Size>
[[gnu::always_inline]] inline bool exchanges(const void* where) noexcept {
#if defined(__x86_64__)
  static_cast<void>(where);
  return has_exchange<Size>;
#else
  return has_exchange<Size> && reinterpret_cast<std::uintptr_t>(where) % Size == 0;
#endif
}

// Memory that is accessed as bits of its size, whatever its declared type is.
template <class Bits>
using any_bits [[gnu::may_alias, gnu::aligned(1)]] = Bits;

template <class T>
struct change {
  T before;
  T after;
};

// Performs *where = next(*where) at once. It is sequentially consistent, because compilers call these functions for
// every memory-order clause alike.
template <class T, class Next>
change<T> update(T* where, Next next) {
  if constexpr (has_exchange<sizeof(T)>) {
    if (exchanges<sizeof(T)>(where)) {
      using bits = typename bits_of_size<sizeof(T)>::type;
      auto* const word = reinterpret_cast<any_bits<bits>*>(where);
      bits seen = __atomic_load_n(word, __ATOMIC_RELAXED);  // relaxed: verified by the exchange
      for (;;) {
        T before;
        std::memcpy(&before, &seen, sizeof(T));
        const T after = next(before);
        bits wanted;
        std::memcpy(&wanted, &after, sizeof(T));
        if (__atomic_compare_exchange_n(word, &seen, wanted, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
          return {before, after};
      }
    }
  }
  change<T> c;
  with_lock(where, [&] {
    // Copied, because Fortran's objects may lie at any address.
    std::memcpy(&c.before, where, sizeof(T));
    c.after = next(c.before);
    std::memcpy(where, &c.after, sizeof(T));
  });
  return c;
}

template <class T>
T read(const T* where) {
  T value;
  if constexpr (has_exchange<sizeof(T)>) {
    if (exchanges<sizeof(T)>(where)) {
      using bits = typename bits_of_size<sizeof(T)>::type;
      const bits seen = __atomic_load_n(reinterpret_cast<const any_bits<bits>*>(where), __ATOMIC_SEQ_CST);
      std::memcpy(&value, &seen, sizeof(T));
      return value;
    }
  }
  with_lock(where, [&] { std::memcpy(&value, where, sizeof(T)); });
  return value;
}

// Returns the value that was there.
template <class T>
T swap(T* where, T value) {
  if constexpr (has_exchange<sizeof(T)>) {
    if (exchanges<sizeof(T)>(where)) {
      using bits = typename bits_of_size<sizeof(T)>::type;
      bits wanted;
      std::memcpy(&wanted, &value, sizeof(T));
      const bits seen = __atomic_exchange_n(reinterpret_cast<any_bits<bits>*>(where), wanted, __ATOMIC_SEQ_CST);
      std::memcpy(&value, &seen, sizeof(T));
      return value;
    }
  }
  T before;
  with_lock(where, [&] {
    std::memcpy(&before, where, sizeof(T));
    std::memcpy(where, &value, sizeof(T));
  });
  return before;
}

// The operations. Each takes the present value and the operand, and returns the new value. Integers overflow by
// wrapping around. A shift counts modulo the width of the type that C shifts, as the processor does.
template <class T>
inline constexpr bool is_fixed = std::is_integral_v<T>;

template <class T>
auto wide(T value) noexcept {
  if constexpr (is_fixed<T>) return static_cast<std::uint64_t>(value);
  else return value;
}
template <class T>
unsigned shift_count(T by) noexcept {
  return static_cast<unsigned>(by) & (sizeof(T) == 8 ? 63u : 31u);
}

namespace operations {

struct add {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(wide(a) + wide(b));
  }
};
struct sub {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(wide(a) - wide(b));
  }
};
struct mul {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(wide(a) * wide(b));
  }
};
struct div {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a / b);
  }
};
struct andb {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a & b);
  }
};
struct orb {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a | b);
  }
};
struct bitwise_xor {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a ^ b);
  }
};
struct eqv {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(~(a ^ b));
  }
};
struct andl {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a && b);
  }
};
struct orl {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a || b);
  }
};
struct shl {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(wide(a) << shift_count(b));
  }
};
struct shr {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a >> shift_count(b));
  }
};
struct min {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return b < a ? b : a;
  }
};
struct max {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return a < b ? b : a;
  }
};

}  // namespace operations

// Performs x = x op operand. Operands of another type (float8 for a fixed4) are computed with in that type, as in C.
template <class Op, class T, class U>
change<T> apply(T* where, U operand) {
  if constexpr (std::is_same_v<Op, operations::add> && is_fixed<T> && std::is_same_v<T, U>) {  // counters
    if (exchanges<sizeof(T)>(where)) {
      const T before = __atomic_fetch_add(reinterpret_cast<any_bits<T>*>(where), operand, __ATOMIC_SEQ_CST);
      return {before, Op()(before, operand)};
    }
  }
  return update(where, [operand](T x) { return static_cast<T>(Op()(static_cast<U>(x), operand)); });
}
// Performs x = operand op x.
template <class Op, class T, class U>
change<T> apply_reversed(T* where, U operand) {
  return update(where, [operand](T x) { return static_cast<T>(Op()(operand, static_cast<U>(x))); });
}

}  // namespace heddle::omp::atomics

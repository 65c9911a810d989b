// __atomic_load and similar functions for objects of any size, which clang calls for types that no instruction serves.
// They belong to libatomic. libiomp5 supplies three of them, so programs and MKL expect to find them here. They are
// weak: if a program has libatomic, libatomic serves all its objects.
#include <cstring>

#include <heddle/export.hpp>
#include <heddle/mutex.hpp>

#include "omp/core/locks/atomic.hpp"

// Compilers know these names as builtins with other types. So the functions are defined under names of their own here,
// and exported under the builtin names.
#define HEDDLE_GENERIC_ATOMIC(name) extern "C" HEDDLE_API __attribute__((weak)) name

namespace {

using namespace heddle::omp::atomics;

bool in_one(std::size_t size, const void* where) noexcept {
  return (size == 1 || size == 2 || size == 4 || size == 8) && reinterpret_cast<std::uintptr_t>(where) % size == 0;
}

// Calls body with the memory as a number of that size.
template <class Body>
void as_number(std::size_t size, void* where, Body body) {
  switch (size) {
    case 1: return body(static_cast<any_bits<std::uint8_t>*>(where));
    case 2: return body(static_cast<any_bits<std::uint16_t>*>(where));
    case 4: return body(static_cast<any_bits<std::uint32_t>*>(where));
    default: return body(static_cast<any_bits<std::uint64_t>*>(where));
  }
}

template <class Bits>
Bits loaded(const void* from) noexcept {
  Bits value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class Pointer>
using bits_at = std::remove_cv_t<std::remove_pointer_t<Pointer>>;

}  // namespace

HEDDLE_GENERIC_ATOMIC(void)
heddle_atomic_load(std::size_t size, void* from, void* to, int) __asm__("__atomic_load");
HEDDLE_GENERIC_ATOMIC(void)
heddle_atomic_store(std::size_t size, void* to, void* from, int) __asm__("__atomic_store");
HEDDLE_GENERIC_ATOMIC(void)
heddle_atomic_exchange(std::size_t size, void* where, void* value, void* before, int) __asm__("__atomic_exchange");
HEDDLE_GENERIC_ATOMIC(bool)
heddle_atomic_compare_exchange(std::size_t size, void* where, void* expected, void* wanted, int,
                               int) __asm__("__atomic_compare_exchange");

void heddle_atomic_load(std::size_t size, void* from, void* to, int) {
  if (!in_one(size, from)) return with_lock(from, [&] { std::memcpy(to, from, size); });
  as_number(size, from, [&](auto* word) {
    const bits_at<decltype(word)> value = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    std::memcpy(to, &value, sizeof value);
  });
}

void heddle_atomic_store(std::size_t size, void* to, void* from, int) {
  if (!in_one(size, to)) return with_lock(to, [&] { std::memcpy(to, from, size); });
  as_number(size, to,
            [&](auto* word) { __atomic_store_n(word, loaded<bits_at<decltype(word)>>(from), __ATOMIC_SEQ_CST); });
}

void heddle_atomic_exchange(std::size_t size, void* where, void* value, void* before, int) {
  if (!in_one(size, where)) {
    return with_lock(where, [&] {
      // `before` may be the same memory as `value`.
      auto* const there = static_cast<unsigned char*>(where);
      auto* const given = static_cast<unsigned char*>(value);
      auto* const result = static_cast<unsigned char*>(before);
      for (std::size_t i = 0; i < size; ++i) {
        const unsigned char old = there[i];
        there[i] = given[i];
        result[i] = old;
      }
    });
  }
  as_number(size, where, [&](auto* word) {
    const bits_at<decltype(word)> old =
        __atomic_exchange_n(word, loaded<bits_at<decltype(word)>>(value), __ATOMIC_SEQ_CST);
    std::memcpy(before, &old, sizeof old);
  });
}

bool heddle_atomic_compare_exchange(std::size_t size, void* where, void* expected, void* wanted, int, int) {
  bool done = false;
  if (!in_one(size, where)) {
    with_lock(where, [&] {
      done = std::memcmp(where, expected, size) == 0;
      std::memcpy(done ? where : expected, done ? wanted : where, size);
    });
    return done;
  }
  as_number(size, where, [&](auto* word) {
    auto seen = loaded<bits_at<decltype(word)>>(expected);
    done = __atomic_compare_exchange_n(word, &seen, loaded<bits_at<decltype(word)>>(wanted), false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
    if (!done) std::memcpy(expected, &seen, sizeof seen);
  });
  return done;
}

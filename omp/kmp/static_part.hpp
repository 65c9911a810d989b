// The arithmetic of the LLVM ABI's loops, independent of the caller.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "omp/core/teams/work_share.hpp"

namespace heddle::omp::kmp {

struct position {
  std::uint64_t number;
  std::uint64_t of;
};

template <class T>
using signed_of = std::make_signed_t<T>;

// The number of values from `lower` by `step` to `upper`, which is included.
template <class T>
constexpr std::uint64_t trips_of(T lower, T upper, signed_of<T> step) noexcept {
  using bits = std::make_unsigned_t<T>;
  if (step == 0 || (step > 0 ? upper < lower : lower < upper)) return 0;
  const auto distance = static_cast<bits>(step > 0 ? static_cast<bits>(upper) - static_cast<bits>(lower)
                                                   : static_cast<bits>(lower) - static_cast<bits>(upper));
  const auto size = static_cast<bits>(step > 0 ? static_cast<bits>(step) : bits{0} - static_cast<bits>(step));
  return std::uint64_t{1} + distance / size;
}

// The value of an iteration, modulo the type's range.
template <class T>
constexpr T value_of(T lower, signed_of<T> step, std::uint64_t iteration) noexcept {
  return static_cast<T>(static_cast<std::uint64_t>(lower) + iteration * static_cast<std::uint64_t>(std::int64_t{step}));
}

// Sets bounds of an empty range, behind `end`.
template <class T>
constexpr void nothing_after(T end, signed_of<T> step, T* lower, T* upper) noexcept {
  const auto one = static_cast<T>(step > 0 ? 1 : -1);
  const auto after = value_of<T>(end, one > 0 ? 1 : -1, 1);
  const bool wraps = step > 0 ? after < end : after > end;  // at the type's limit
  *lower = wraps ? end : after;
  *upper = wraps ? value_of<T>(end, step > 0 ? -1 : 1, 1) : end;
}

// Computes the values that the ABI requires for a static loop: the bounds become those of this position's part. If
// chunked, they become those of its first chunk, and *stride leads from one of its chunks to the next; the compiler's
// code checks the loop's own end.
template <class T>
constexpr void part(position here, bool chunked, std::int32_t* last, T* lower, T* upper, signed_of<T>* stride,
                    signed_of<T> step, signed_of<T> chunk) noexcept {
  const T first = *lower;
  const std::uint64_t trips = trips_of<T>(first, *upper, step);
  std::int32_t ignored;
  if (last == nullptr) last = &ignored;
  // The bounds stay as they are, and enclose no value.
  if (trips == 0) {
    *last = 0;
    *stride = step;
    return;
  }
  const T end = value_of<T>(first, step, trips - 1);
  block mine;
  if (chunked) {
    const std::uint64_t size = chunk > 0 ? std::min(static_cast<std::uint64_t>(chunk), trips) : 1;
    const std::uint64_t chunks = chunks_of(trips, size);
    // A thread with at most one chunk goes on behind the loop's end, because the next of its chunks may be beyond the
    // type's range.
    const std::uint64_t to_next = chunks > here.of       ? size * here.of
                                  : here.number < chunks ? trips - here.number * size
                                                         : trips;
    *stride = static_cast<signed_of<T>>(to_next * static_cast<std::uint64_t>(std::int64_t{step}));
    *last = here.number == (chunks - 1) % here.of ? 1 : 0;
    if (here.number < chunks) {
      mine.first = here.number * size;
      mine.count = trips - mine.first < size ? trips - mine.first : size;
    }
  } else {
    mine = even_part(trips, here.number, here.of);
    *stride = static_cast<signed_of<T>>(trips);
    *last = here.number == (trips < here.of ? trips : here.of) - 1 ? 1 : 0;
  }
  if (mine.count == 0) return nothing_after<T>(end, step, lower, upper);
  *lower = value_of<T>(first, step, mine.first);
  *upper = value_of<T>(first, step, mine.first + mine.count - 1);
}

}  // namespace heddle::omp::kmp

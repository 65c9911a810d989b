// The writing side of tracing, which is all that worker/, fiber/, task/ and policy/ need to include.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "trace/events.hpp"
#include "trace/ring.hpp"

namespace heddle::trace {
namespace detail {

constexpr std::array<std::size_t, 3> used_slots(event e) {
  std::array<std::size_t, 3> slots{};
  std::size_t n = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (info(e).fields[i].kind != unit::none) slots[n++] = i;
  }
  return slots;
}

template <unit Kind, class T>
constexpr std::uint64_t to_word(T value) noexcept {
  if constexpr (Kind == unit::work) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  } else if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::uintptr_t>(value);
  } else {
    static_assert(std::is_enum_v<T> || std::is_integral_v<T>, "only fields of unit work are floating-point");
    return static_cast<std::uint64_t>(value);
  }
}

}  // namespace detail

// Writes one event. The arguments are the event's fields in the order of events.def (integers, enums, pointers, or a
// number for unit work). A null ring means that tracing is off: the cost is then one predictable branch without a load.
// Callable from any thread that owns the ring at the moment and from its signal handlers; never suspends, allocates or
// locks.
template <event Event, class... Args>
inline void emit(ring* to, Args... args) noexcept {
  static_assert(Event != event::none);
  static_assert(sizeof...(Args) == arity(Event), "the arguments must be the event's fields in events.def");
  if (to == nullptr) [[likely]]
    return;
  constexpr std::array<std::size_t, 3> slots = detail::used_slots(Event);
  std::uint64_t words[3] = {0, 0, 0};
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((words[slots[I]] = detail::to_word<info(Event).fields[slots[I]].kind>(args)), ...);
  }(std::index_sequence_for<Args...>{});
  to->write(Event, static_cast<std::uint32_t>(words[0]), words[1], words[2]);
}

}  // namespace heddle::trace

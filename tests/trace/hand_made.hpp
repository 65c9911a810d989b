// Recordings with known contents for the tests of trace/.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "trace/trace.hpp"

namespace heddle::trace::test {

// A clock that stands still until a test sets it.
inline std::atomic<std::uint64_t> time_now{0};
inline std::uint64_t hand_clock() { return time_now.load(); }

inline recorder_options options(std::size_t records = 1024) {
  recorder_options o;
  o.records = records;
  o.now = hand_clock;
  o.program = "loom";
  o.machine = "2 workers on a hand-made machine";
  o.policy = "random_ws";
  return o;
}

template <event Event, class... Args>
void at(std::uint64_t ns, ring* to, Args... args) {
  time_now = ns;
  emit<Event>(to, args...);
}

inline constexpr std::uint64_t field_value(std::size_t i) { return 1001 + i; }

// emit of any event with field_value(0), field_value(1) ...
template <event Event>
void emit_numbered(ring* to) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    emit<Event>(to, field_value(I)...);
  }(std::make_index_sequence<arity(Event)>{});
}

// Every event of the list once, at times 1, 2, 3 ...
inline void emit_every_event(ring* to) {
  time_now = 0;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((time_now = I + 1, emit_numbered<static_cast<event>(I + 1)>(to)), ...);
  }(std::make_index_sequence<event_count>{});
}

}  // namespace heddle::trace::test

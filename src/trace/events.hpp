// The event list as types and constexpr tables. All other files of trace/ read these tables, and none repeats the list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heddle::trace {

enum class event : std::uint16_t {
  none = 0,  // an empty ring slot; never written
#define HEDDLE_EVENT(name, effect, meaning, arg, a, b) name,
#include "trace/events.def"
};

enum class span : std::uint8_t {
  none = 0,
#define HEDDLE_SPAN(name, activity, owner, meaning) name,
#include "trace/events.def"
};

// The kind of a worker's time.
enum class activity : std::uint8_t { busy, idle, overhead, off };
inline constexpr std::size_t activity_count = 4;
inline constexpr std::array<std::string_view, activity_count> activity_names{"busy", "idle", "overhead", "off"};

enum class span_owner : std::uint8_t { worker, thread };

// The meaning of a field's bits. `work` is a double; `reason` is a park_reason; `text` is a number given by
// recorder::text; `pair` is two numbers of 32 bits, the first one in the high half.
enum class unit : std::uint8_t { none, count, id, worker, thread, task, address, bytes, work, reason, text, pair };
inline constexpr std::array<std::string_view, 12> unit_names{"none",    "count", "id",   "worker", "thread", "task",
                                                             "address", "bytes", "work", "reason", "text",   "pair"};

// The field `reason` of thread_park. `ended` means that the thread will not come back.
enum class park_reason : std::uint32_t { wait, yield, preempted, moved, ended };
inline constexpr std::array<std::string_view, 5> park_reason_names{"wait", "yield", "preempted", "moved", "ended"};

enum class action : std::uint8_t { point, open, close, resume, suspend };

struct effect {
  action what = action::point;
  span target = span::none;
  bool reclassified = false;         // closes_as
  activity as = activity::overhead;  // valid if reclassified
};

struct field_info {
  unit kind = unit::none;
  std::string_view name;
  std::string_view meaning;
};

struct event_info {
  event id = event::none;
  std::string_view name;
  effect does;
  std::string_view meaning;
  std::array<field_info, 3> fields;  // the slots arg, a, b of a record
};

struct span_info {
  span id = span::none;
  std::string_view name;
  activity counts_as = activity::overhead;
  span_owner owner = span_owner::worker;
  std::string_view meaning;
};

namespace detail {

inline constexpr effect point{};
inline constexpr effect resumes{action::resume, span::thread};
inline constexpr effect suspends{action::suspend, span::thread};
constexpr effect opens(span s) { return {action::open, s}; }
constexpr effect closes(span s) { return {action::close, s}; }
constexpr effect closes_as(span s, activity a) { return {action::close, s, true, a}; }

inline constexpr field_info none{};
constexpr field_info field(unit kind, std::string_view name, std::string_view meaning) { return {kind, name, meaning}; }

inline constexpr event_info events[] = {
    {},
#define HEDDLE_EVENT(name, effect, meaning, arg, a, b) {event::name, #name, effect, meaning, {arg, a, b}},
#include "trace/events.def"
};

inline constexpr span_info spans[] = {
    {},
#define HEDDLE_SPAN(name, counts, owner, meaning) {span::name, #name, activity::counts, span_owner::owner, meaning},
#include "trace/events.def"
};

}  // namespace detail

// Numbers run from 1 to event_count; 0 is event::none.
inline constexpr std::size_t event_count = std::size(detail::events) - 1;
inline constexpr std::size_t span_count = std::size(detail::spans) - 1;

constexpr const event_info& info(event e) { return detail::events[static_cast<std::size_t>(e)]; }
constexpr const span_info& info(span s) { return detail::spans[static_cast<std::size_t>(s)]; }

constexpr std::size_t arity(event e) {
  std::size_t n = 0;
  for (const field_info& f : info(e).fields) n += f.kind != unit::none;
  return n;
}

}  // namespace heddle::trace

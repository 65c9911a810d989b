// The seam between the explorer of interleavings (sim/README.md) and the floors above. It is empty on a real platform.
#pragma once

#include <cstdint>

#include "platform/platform.hpp"

namespace heddle::platform {

// A step that the explorer may leave out. It is a step of the protocol of sleep, which is left out at one source of
// work at a time, or `service`, which stands for all services at boundaries of work.
enum class step : std::uint8_t { none, announcement, last_look, service };
inline constexpr char all_boundaries[] = "boundaries";  // the source that is named with `service`

#if defined(HEDDLE_SIM)
// Returns true if every fork and every join must take its slow path, where its time is charged. Some of the explored
// schedules leave the fast paths as they are, and it returns false there. The answer is the same throughout a run.
bool watches_forks() noexcept;

// Asked at a choice of a worker and at a boundary of work. Returns true if the explorer lets the worker be reminded of
// what waits at this moment, as the service clock may do at any.
bool reminds() noexcept;

// Simulated runtimes have a service clock only while this is true: a scenario that needs the clock sets it before it
// makes a runtime. In virtual time each fork, join and choice reads the time instead.
inline bool has_service_clock{false};

// `is_broken` is called at moments when no kernel thread is on its way to work: each sleeps, or waits in code of the
// user's. It returns true if a worker of that runtime sleeps while there is work that it may take ([conserving:1]). It
// may read any state, and must neither charge nor wait.
void promise_work_conservation(const void* runtime, bool (*is_broken)(const void* runtime));

// A mutant of the runtime that takes no build of its own. Set before a run, and read in it.
struct omission {
  step what{step::none};
  const char* source{nullptr};
};
inline omission left_out;
inline bool is_left_out(step what, const char* source) noexcept {
  return left_out.what == what && left_out.source == source;
}
#else
constexpr bool watches_forks() noexcept { return false; }
constexpr bool reminds() noexcept { return false; }
inline constexpr bool has_service_clock = true;
inline void promise_work_conservation(const void*, bool (*)(const void*)) {}
constexpr bool is_left_out(step, const char*) noexcept { return false; }
#endif

}  // namespace heddle::platform

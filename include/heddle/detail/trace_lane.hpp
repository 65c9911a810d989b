// Events that another library writes into the trace of a runtime: OpenMP's, for its tasks. A user-level thread writes
// to the ring of its worker. A kernel thread that is no worker and computes beside them, as the leader of a team does,
// has a lane of its own in the recording.
#pragma once

#include <cstdint>

#include <heddle/export.hpp>

namespace heddle::detail {

struct trace_lane;

inline constexpr unsigned no_lane = ~0u;

// A lane for the calling kernel thread, in the recording of heddle::runtime::current(). Null if that runtime records
// nothing, or has as many lanes as it can have. The lane stays until the runtime ends.
HEDDLE_API trace_lane* open_trace_lane() noexcept;

// Writes an event of src/trace/events.def. `lane` is the caller's, or null: then the caller is a user-level thread.
// Returns the number of the worker or lane that the event was written to; no_lane if nothing records there.
HEDDLE_API unsigned write_to_trace(trace_lane* lane, unsigned event, std::uint32_t arg, std::uint64_t a,
                                   std::uint64_t b) noexcept;

// Writes that the caller has taken a task from where another worker or lane had queued it. See write_to_trace.
HEDDLE_API void write_steal_to_trace(trace_lane* lane, unsigned victim, std::uint64_t task) noexcept;

}  // namespace heddle::detail

// The names of the jobs by which workers join a loop, in traces.
#pragma once

namespace heddle::detail {

// Must be called before a traced loop begins. The trace then names the jobs by which workers join loops by the bodies
// of the loops, where the engine is compiled once for all bodies.
void name_joining_jobs() noexcept;

}  // namespace heddle::detail

// The names of the jobs by which workers join a loop, in traces.
#pragma once

#include <atomic>

#include <heddle/detail/fork_queue.hpp>

namespace heddle::detail {

// Must be called before a traced loop begins. The trace then names the jobs by which workers join loops by the bodies
// of the loops, where the engine is compiled once for all bodies.
void name_joining_jobs() noexcept;

// Returns the body of such a job of the loops that lie above this folder, or null. They set it; null until then.
using body_of_job = const void* (*)(const job* one, job::code code) noexcept;
inline std::atomic<body_of_job> body_of_job_above{nullptr};

template <class Work>
const void* code_of(const Work* work) noexcept {
  return work == nullptr ? nullptr : work->code();
}

}  // namespace heddle::detail

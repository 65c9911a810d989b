// Gangs, for teams (heddle/team.hpp, omp/). Either all threads of a gang have a worker of their own at once, or none
// has. The guarantees and their conditions: src/worker/gangs/gangs.md.
#pragma once

#include <heddle/export.hpp>
#include <heddle/runtime.hpp>

namespace heddle::detail {

struct thread_handle;  // a fiber::thread
struct gang_handle;    // a worker::gang

// Makes a gang for up to `most` threads of that runtime, or of runtime::current() if `where` is null. Throws
// std::bad_alloc.
HEDDLE_API gang_handle* make_gang(runtime* where, unsigned most);
// Frees a gang that has no threads.
HEDDLE_API void free_gang(gang_handle* g) noexcept;

// Begins a gang of n threads. It is younger than all existing gangs, and nested in the gang of the calling thread. It
// must have no threads when this is called.
HEDDLE_API void begin_gang(gang_handle* g, unsigned n) noexcept;
// Puts thread `t` into the gang as its thread `number`, from the thread's beginning or its next step on. `t` must be in
// no gang, and it must not have been started, or must wait in such a way that only the caller can wake it. When all n
// threads have become ready they run, as soon as there is a worker for each.
HEDDLE_API void take_into_gang(gang_handle* g, unsigned number, thread_handle* t) noexcept;
// Does the same for the calling user-level thread of that runtime. Returns when all threads have come and have their
// workers. May suspend and migrate the caller.
HEDDLE_API void enter_gang(gang_handle* g, unsigned number) noexcept;
// Takes the calling thread out of its innermost gang. May suspend and migrate it. The gang may be begun anew or freed
// when all of its threads have returned from this call.
HEDDLE_API void leave_gang() noexcept;

}  // namespace heddle::detail

// Gangs, for teams (heddle/team.hpp, omp/): threads of which all have a worker of their own at once, or none has. What
// is promised, and under which conditions: src/worker/gangs/gangs.md.
#pragma once

#include <heddle/export.hpp>
#include <heddle/runtime.hpp>

namespace heddle::detail {

struct thread_handle;  // a fiber::thread
struct gang_handle;    // a worker::gang

// For up to `most` threads of that runtime; null: runtime::current(). Throws std::bad_alloc.
HEDDLE_API gang_handle* make_gang(runtime* where, unsigned most);
// Nobody is in it.
HEDDLE_API void free_gang(gang_handle* g) noexcept;

// A gang of n threads, younger than all there are, and nested in the one that the calling thread is in. Nobody is in
// it.
HEDDLE_API void begin_gang(gang_handle* g, unsigned n) noexcept;
// A thread that was made and not started, or waits in such a way that the caller alone can wake it, and is in no gang,
// is in this one, as that one of the n, from its beginning or its next step on. When all have become ready they run, as
// soon as there is a worker for each.
HEDDLE_API void take_into_gang(gang_handle* g, unsigned number, thread_handle* t) noexcept;
// The same of the calling user-level thread of that runtime: returns when all are there and have their workers. May
// suspend and migrate it.
HEDDLE_API void enter_gang(gang_handle* g, unsigned number) noexcept;
// The calling thread is in its innermost gang no more. May suspend and migrate it. The gang may begin anew, or be gone,
// when all of its threads have returned from this.
HEDDLE_API void leave_gang() noexcept;

}  // namespace heddle::detail

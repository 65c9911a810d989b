// Events of work-sharing constructs and masked regions. Called only where a tool listens.
#pragma once

#include <cstdint>

#include "omp/core/teams/work_share.hpp"
#include "omp/ompt/state.hpp"

namespace heddle::omp::ompt {

ompt_work_t kind_of(const loop_plan& plan) noexcept;

void work_begins(thread& self, ompt_work_t kind, std::uint64_t count, const void* code);
void work_ends(thread& self, ompt_work_t kind, std::uint64_t count, const void* code);

// The loop of the thread's cursor, or its sections: the thread has come to it, was given a block of it, has finished
// it. The last event is also told where no call says so: a cancelled loop ends at the next barrier.
void loop_begins(thread& self, const void* code);
void block_begins(thread& self, const void* code);
void loop_ends(thread& self, const void* code);

// The iterations of a loop are numbered from 0.
void chunk_begins(thread& self, ompt_dispatch_t kind, std::uint64_t first, std::uint64_t count);
void section_begins(thread& self, const void* code);

// A single construct. The GNU ABI does not tell its end, so the end is told at the thread's next barrier or construct
// of that kind.
void single_begins(thread& self, bool executes, const void* code);
void single_ends(thread& self, const void* code);
void gnu_single_begins(thread& self, bool executes, const void* code);
void end_gnu_single(thread& self);

void masked(thread& self, ompt_scope_endpoint_t endpoint, const void* code);

}  // namespace heddle::omp::ompt

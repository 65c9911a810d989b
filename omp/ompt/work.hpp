// Events of work-sharing constructs and masked regions. Called where a tool listens alone.
#pragma once

#include <cstdint>

#include "omp/core/teams/work_share.hpp"
#include "omp/ompt/state.hpp"

namespace heddle::omp::ompt {

ompt_work_t kind_of(const loop_plan& plan) noexcept;

void work_begins(thread& self, ompt_work_t kind, std::uint64_t count, const void* code);
void work_ends(thread& self, ompt_work_t kind, std::uint64_t count, const void* code);

// The loop of the thread's cursor, or its sections: it has come to it, was given a block of it, has done with it. The
// last one also where nobody says so: a cancelled loop ends at the next barrier.
void loop_begins(thread& self, const void* code);
void block_begins(thread& self, const void* code);
void loop_ends(thread& self, const void* code);

// Iterations of a loop, numbered from 0.
void chunk_begins(thread& self, ompt_dispatch_t kind, std::uint64_t first, std::uint64_t count);
void section_begins(thread& self, const void* code);

// A single construct; the GNU ABI does not say where it ends: at the thread's next barrier or construct of that kind.
void single_begins(thread& self, bool executes, const void* code);
void single_ends(thread& self, const void* code);
void gnu_single_begins(thread& self, bool executes, const void* code);
void end_gnu_single(thread& self);

void masked(thread& self, ompt_scope_endpoint_t endpoint, const void* code);

}  // namespace heddle::omp::ompt

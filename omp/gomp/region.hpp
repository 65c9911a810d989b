// What the GNU ABI's entry points share.
#pragma once

#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp::gomp {

// An outlined function and what it is called with.
struct outlined {
  void (*code)(void*);
  void* data;
};
void call_outlined(void* data, thread& self);

// `threads`: 0, nothing was said; 1, if(false) or num_threads(1). `flags`: proc_bind in the low three bits.
region_options options_of(unsigned threads, unsigned flags, const void* code = nullptr) noexcept;

// Runs it as a region, each member of which begins in the loop if there is one.
void run(void (*code)(void*), void* data, region_options how, const loop_plan* loop);
// The caller runs the function itself, and then calls end_region (GOMP_parallel_end).
void start(void (*code)(void*), void* data, region_options how, const loop_plan* loop);

// Schedules by their names in the ABI's functions.
loop_plan static_plan(std::uint64_t chunk) noexcept;
loop_plan dynamic_plan(std::uint64_t chunk) noexcept;
loop_plan guided_plan(std::uint64_t chunk) noexcept;
loop_plan runtime_plan() noexcept;
// By GOMP_loop_start's number.
loop_plan plan_of(long schedule, std::uint64_t chunk) noexcept;

// From `start` by `step` to before `end`.
void set_range(loop_plan& plan, long start, long end, long step) noexcept;
void set_range(loop_plan& plan, bool up, unsigned long long start, unsigned long long end,
               unsigned long long step) noexcept;

// As many as sections.
loop_plan sections_plan(unsigned count) noexcept;

}  // namespace heddle::omp::gomp

// Helpers that the GNU ABI's entry points share.
#pragma once

#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp::gomp {

// An outlined function and its argument.
struct outlined {
  void (*code)(void*);
  void* data;
};
void call_outlined(void* data, thread& self);

// `threads` is 0 if nothing was given, and 1 for if(false) or num_threads(1). `flags` has proc_bind in its low three
// bits.
region_options options_of(unsigned threads, unsigned flags, const void* code = nullptr) noexcept;

// Runs the function as a region. Each member begins in the loop if there is one.
void run(void (*code)(void*), void* data, region_options how, const loop_plan* loop);
// Begins the region; the caller runs the function itself, and then calls end_region (GOMP_parallel_end).
void start(void (*code)(void*), void* data, region_options how, const loop_plan* loop);

// Schedules by their names in the ABI's functions.
loop_plan static_plan(std::uint64_t chunk) noexcept;
loop_plan dynamic_plan(std::uint64_t chunk) noexcept;
loop_plan guided_plan(std::uint64_t chunk) noexcept;
loop_plan runtime_plan() noexcept;
// The schedule with the number that GOMP_loop_start takes.
loop_plan plan_of(long schedule, std::uint64_t chunk) noexcept;

// The range from `start` by `step` up to, but not including, `end`.
void set_range(loop_plan& plan, long start, long end, long step) noexcept;
void set_range(loop_plan& plan, bool up, unsigned long long start, unsigned long long end,
               unsigned long long step) noexcept;

// A plan with as many iterations as there are sections.
loop_plan sections_plan(unsigned count) noexcept;

}  // namespace heddle::omp::gomp

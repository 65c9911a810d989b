// The settings of a runtime.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <heddle/loop_schedule.hpp>

#include "fiber/preemptible.hpp"
#include "machine/topology.hpp"
#include "worker/arenas/arena.hpp"
#include "worker/preemption/klt_means.hpp"
#include "worker/preemption/ticks.hpp"

namespace heddle::worker {

// The decisions that are made before a runtime starts, and never change. task/ makes them from options, machine and
// limits.
struct settings {
  std::vector<int> units;  // one worker each, bound to that processing unit; -1 means not bound
  std::shared_ptr<const machine::topology> machine;
  std::string policy{"random_ws"};
  const char* program{""};  // name of the executable, for traces
  std::size_t stack_size{std::size_t{1} << 20};
  std::size_t stack_cache{1024};  // idle stacks kept committed at any time
  std::size_t stack_keep{0};      // bytes of further ones, while they were needed of late
  unsigned spin{50};              // microseconds
  std::uint64_t seed{42};
  bool crowded{false};   // more workers than processing units; runtime::crowded
  unsigned watchdog{0};  // seconds
  std::string dump_signal{"off"};
  std::string trace_file;        // written by the destructor; empty if tracing is off
  bool trace_forks{false};       // each fork and join is an event
  std::size_t trace_records{0};  // per worker; 0 if tracing is off
  void* handle{nullptr};         // the public heddle::runtime
  fiber::kind threads;           // of threads that are made without a choice of their own, job runners included
  tls storage{tls::carrier};     // of preemptive threads that are made without a choice of their own
  tick_plan plan;
  unsigned blocking_limit{4096};  // blocking calls under way at once
  loop_schedule loop;             // of loops that name no schedule
  // The number of time slices after which a ready thread has one, whatever is above it; 0 means never.
  unsigned aging{20};
  platform::nanoseconds service_bound{1'000'000};  // [service:1]
  platform::nanoseconds blocked_bound{1'000'000};  // [substitute:1]; 0 means never
  bool gangs_by_load{false};                       // [gang:17]
  klt_means klt;
  arena_plan arena;  // says whose workers carry this runtime's, if it is an arena
  // Returns the processors that the process may use at the moment, for automatic packing. Empty if packing is not
  // automatic.
  std::function<unsigned()> allowed;
};

}  // namespace heddle::worker

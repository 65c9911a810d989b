// What is decided before a runtime starts, and never changes.
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

// Everything decided before a runtime starts; task/ makes it from options, machine and limits.
struct settings {
  std::vector<int> units;  // one worker each, bound to that processing unit; -1: not bound
  std::shared_ptr<const machine::topology> machine;
  std::string policy{"random_ws"};
  std::string program;  // name of the executable, for traces
  std::size_t stack_size{std::size_t{1} << 20};
  std::size_t stack_cache{1024};  // idle stacks kept committed
  unsigned spin{50};              // microseconds
  std::uint64_t seed{42};
  bool crowded{false};   // more workers than processing units; runtime::crowded
  unsigned watchdog{0};  // seconds
  std::string dump_signal{"off"};
  std::string trace_file;        // written by the destructor; "": off
  bool trace_forks{false};       // each fork and join is an event
  std::size_t trace_records{0};  // per worker; 0: off
  void* handle{nullptr};         // the public heddle::runtime
  fiber::kind threads;           // of threads that are made without a word on it, job runners included
  tls storage{tls::carrier};     // of preemptive threads that are made without a word on that
  tick_plan plan;
  unsigned blocking_limit{4096};  // blocking calls under way at once
  loop_schedule loop;             // of loops that name none
  // turns after which a thread that is ready has one, whatever is above it; 0: never
  unsigned aging{20};
  klt_means klt;
  arena_plan arena;  // whose workers carry this runtime's, if it is an arena
  // processors that the process may use now, for packing by itself; empty: no such thing
  std::function<unsigned()> allowed;
};

}  // namespace heddle::worker

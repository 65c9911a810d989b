// The facts that the engine must know about the machine that it simulates. They are plain numbers; sim/session.cpp,
// above, knows the files and topologies from which they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/sim/strand.hpp"

namespace heddle::sim {

// The time of each operation on a core of speed 1.
struct operation_times {
  picoseconds fork{0}, join{0}, spawn{0}, thread_switch{0};
  picoseconds steal{0}, steal_per_level{0}, failed_steal{0};
  picoseconds wake{0}, wake_latency{0}, sleep{0};
  picoseconds heavy_fence{0}, clock{0};
  picoseconds signal{0}, signal_lock{0}, signal_send{0};
  picoseconds kernel_switch{0};
  // The number of a link's latencies that a thief's message takes over it; 0 if none is sent.
  double link_messages{0};
  // These two are not in machine files: a turn of a spin loop costs the time of PAUSE on a Skylake, sched_yield() its
  // time on Linux if no other thread is ready.
  picoseconds pause{14 * nanosecond}, yield{300 * nanosecond};
};

struct unit_description {
  int number{0};    // the operating system's number
  double speed{1};  // work per time, relative to the fastest kind of core
};

enum class charging : std::uint8_t {
  automatic,    // annotations if the program has any (heddle_cost_declare), else measured
  annotations,  // the parts of the program that it does not declare are free
  measured      // its CPU time between scheduling points
};

// Returns the time of a memory access to at most `access_step` bytes of one line after the other, by unit `unit` at
// time `at`. `how` says whether it continues an earlier access.
using access_function = picoseconds (*)(void* context, unsigned unit, std::uint64_t address, std::uint64_t bytes,
                                        bool write, continued how, picoseconds at);
// The same for rows of `count` each: first the first row of each set, then the second of each.
struct rows {
  std::uint64_t address, bytes, stride;
  bool write;
};
inline constexpr std::size_t most_row_sets = 8;
using rows_function = picoseconds (*)(void* context, unsigned unit, const rows* sets, std::size_t set_count,
                                      std::uint64_t count, picoseconds at);
// Writes the counts of the memory model for a unit so far.
using counts_function = void (*)(void* context, unsigned unit, memory_counts& out);
// The numbers of `policy` are those of heddle_cost_model::place; `forget` has only bytes.
using place_function = bool (*)(void* context, std::uint64_t address, std::uint64_t bytes, int policy, int node);
using forget_function = void (*)(void* context, std::uint64_t address, std::uint64_t bytes);
inline constexpr std::uint64_t access_step = 64 * 64;

struct configuration {
  std::vector<unit_description> units{{}};
  operation_times times;
  double frequency{1};  // cycles that the program tells, per ns at speed 1
  // The arithmetic that a core of speed 1 can do while it waits for a line. With 0 it either computes or waits.
  picoseconds window{0};
  unsigned line_bits{6};  // logarithm of the size of a line
  // The time slice of one of several strands on a unit; longer charges have points inside.
  picoseconds quantum{1'000'000 * nanosecond};
  charging charge{charging::automatic};
  bool fast{false};                    // the program may leave its arithmetic out
  access_function access{nullptr};     // null if memory costs nothing
  rows_function access_rows{nullptr};  // null as above
  counts_function counts{nullptr};     // null if nothing is counted
  place_function place{nullptr};
  forget_function forget{nullptr};
  void* memory{nullptr};  // the first argument of the five functions
  // Called once, before the process is ended because nothing can happen ("deadlock") or nothing has happened ("stall").
  void (*failed)(void* context, const char* what){nullptr};
  void* context{nullptr};  // its first argument
};

}  // namespace heddle::sim

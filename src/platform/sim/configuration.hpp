// What the engine must know of the machine that it pretends to be. Plain numbers: where they come from, files and
// topologies, is known above (sim/session.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/sim/strand.hpp"

namespace heddle::sim {

// Time of each operation on a core of speed 1.
struct operation_times {
  picoseconds fork{0}, join{0}, spawn{0}, thread_switch{0};
  picoseconds steal{0}, steal_per_level{0}, failed_steal{0};
  picoseconds wake{0}, wake_latency{0}, sleep{0};
  picoseconds heavy_fence{0}, clock{0};
  picoseconds signal{0}, signal_lock{0}, signal_send{0};
  picoseconds kernel_switch{0};
  double link_messages{0};  // how many latencies of a link a thief's message takes over it; 0: none is sent
  // Not in machine files: a turn of a spin loop costs what PAUSE costs on a
  // Skylake, sched_yield() what it costs on Linux when nobody else is ready.
  picoseconds pause{14 * nanosecond}, yield{300 * nanosecond};
};

struct unit_description {
  int number{0};    // the operating system's
  double speed{1};  // work per time, relative to the fastest kind of core
};

enum class charging : std::uint8_t {
  automatic,    // annotations if the program has any (heddle_cost_declare), else measured
  annotations,  // what the program does not tell is free
  measured      // its CPU time between scheduling points
};

// Time of a memory access, at most `access_step` bytes of one line after the other, by unit `unit` at time `at`;
// whether it goes on with an earlier one.
using access_function = picoseconds (*)(void* context, unsigned unit, std::uint64_t address, std::uint64_t bytes,
                                        bool write, continued how, picoseconds at);
// The same for rows of `count` each: of the first of each set, then the second of each.
struct rows {
  std::uint64_t address, bytes, stride;
  bool write;
};
inline constexpr std::size_t most_row_sets = 8;
using rows_function = picoseconds (*)(void* context, unsigned unit, const rows* sets, std::size_t set_count,
                                      std::uint64_t count, picoseconds at);
// What the memory model has counted for a unit so far.
using counts_function = void (*)(void* context, unsigned unit, memory_counts& out);
// The numbers of `policy` are those of heddle_cost_model::place; `forget` has bytes alone.
using place_function = bool (*)(void* context, std::uint64_t address, std::uint64_t bytes, int policy, int node);
using forget_function = void (*)(void* context, std::uint64_t address, std::uint64_t bytes);
inline constexpr std::uint64_t access_step = 64 * 64;

struct configuration {
  std::vector<unit_description> units{{}};
  operation_times times;
  double frequency{1};    // told cycles per ns at speed 1
  picoseconds window{0};  // arithmetic that a core of speed 1 can do while it waits for a line; 0: it computes or waits
  unsigned line_bits{6};  // logarithm of the size of a line
  // turn of one of several strands on a unit; longer charges have points inside
  picoseconds quantum{1'000'000 * nanosecond};
  charging charge{charging::automatic};
  bool fast{false};                    // the program may leave its arithmetic out
  access_function access{nullptr};     // null: memory costs nothing
  rows_function access_rows{nullptr};  // null: as above
  counts_function counts{nullptr};     // null: nothing is counted
  place_function place{nullptr};
  forget_function forget{nullptr};
  void* memory{nullptr};  // first argument of the five
  // Called once, before the process is ended because nothing can happen ("deadlock") or nothing did ("stall").
  void (*failed)(void* context, const char* what){nullptr};
  void* context{nullptr};  // its first argument
};

}  // namespace heddle::sim

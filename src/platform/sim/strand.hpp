// A simulated kernel thread. All of them are multiplexed on the one kernel thread of the process. Each has a stack, a
// clock, and its copy of the data that the C and C++ runtimes keep per kernel thread.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <heddle/detail/current.hpp>

#include <heddle/thread_slot.hpp>

#include "base/exception_state.hpp"
#include "platform/sim/told_overlap.hpp"

namespace heddle::sim {

inline constexpr picoseconds nanosecond = 1000;
inline constexpr picoseconds never = ~picoseconds{0};

enum class strand_state : std::uint8_t {
  ready,   // running, or in the heap of events until its time comes
  queued,  // could run, but another strand has its processing unit
  asleep,  // on a word; in the heap, too, if it has a deadline
  ended
};

// The way in which a strand spends time, for the statistics.
enum class activity : std::uint8_t { program, scheduler, search };

// The cost in lines of the accesses of a strand, or of a processing unit.
struct memory_counts {
  // Lines that the caches of its core did not have; lines that none of its caches had.
  std::uint64_t private_misses{0}, shared_misses{0};
  std::uint64_t local{0}, remote{0};  // lines from the memory of its own node; from other nodes
  // Whether the machine has such caches; whether it has such memory.
  bool has_private{false}, has_shared{false}, has_nodes{false};
};

struct strand {
  static constexpr std::size_t nowhere = ~std::size_t{0};

  unsigned id{0};
  strand_state state{strand_state::ready};
  bool timed_out{false};
  char name[16]{};
  picoseconds time{0};         // its clock; while asleep with a deadline, the deadline
  std::size_t place{nowhere};  // its index in the heap of events

  struct {
    void* stack_pointer{nullptr};  // set while it does not run
    void* stack{nullptr};          // null for the process's own stack
    void (*entry)(void*){nullptr};
    void* argument{nullptr};
  } context;

  // Copies, valid while it does not run.
  struct {
    detail::fork_queue* queue{nullptr};
    base::exception_state exceptions;
    int error{0};                             // errno
    void* slots[detail::thread_slots + 1]{};  // heddle_foreign_slots
  } saved;

  int bound{-1};  // index of a processing unit; -1 for any
  int unit{-1};   // the unit where it runs or is queued; -1 if asleep or ended
  int last_unit{-1};
  picoseconds used{0};  // processor time; its unit's queue is ordered by it

  struct {
    const void* on{nullptr};  // the word on which it sleeps
    strand* next{nullptr};    // in a list of sleepers
  } sleeps;

  // tick.cpp
  struct {
    // The earliest tick of its timers and the sent one; `never` while a tick is being delivered.
    picoseconds next{never};
    picoseconds sent{never};
    bool held{false};
  } ticks;
  struct {
    // It is ready and stands at the end of a charge during which nothing has happened, so a tick may cut the charge
    // short.
    bool open{false};
    activity as{activity::program};
    picoseconds owed{0};  // the part that was cut off and is still to come
  } charge;
  bool woken{false};  // while queued: it is next at once
  // It is in a pause of a loop that waits; a tick that comes there resets this.
  bool at_pause{false};

  // In exploration: it is not chosen before this point unless no other strand can run.
  std::uint64_t held_back{0};
  std::uint64_t rests_until{0};  // the same in user code, until this point at the latest
  picoseconds spent[3]{};        // by activity
  double cycles_told{0};         // cost::cycles of the program, summed up
  memory_counts memory;          // counted once counting is on (program_costs::count_memory)

  // Since the last operation of the scheduler: whether the program told a cost, and how often the watch (cpu_watch.hpp)
  // found it computing. The watch's signal handler writes `beats`.
  struct {
    bool told{false};
    volatile std::uint32_t beats{0};
    told_overlap overlap;
  } stretch;
  told_streams streams;

  bool before(const strand& other) const noexcept { return time != other.time ? time < other.time : id < other.id; }
};

}  // namespace heddle::sim

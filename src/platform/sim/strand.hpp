// A simulated kernel thread. All of them are multiplexed on the one kernel thread of the process; each has a stack, a
// clock, and its copy of what the C and C++ runtimes keep per kernel thread.
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

// How the time of a strand is spent, for the statistics.
enum class activity : std::uint8_t { program, scheduler, search };

// What the accesses of a strand, or of a processing unit, have cost in lines.
struct memory_counts {
  std::uint64_t private_misses{0}, shared_misses{0};  // that the caches of its core, that all its caches did not have
  std::uint64_t local{0}, remote{0};                  // from the memory of its own node; from others
  bool has_private{false}, has_shared{false}, has_nodes{false};  // the machine has such caches; memory
};

struct strand {
  static constexpr std::size_t nowhere = ~std::size_t{0};

  unsigned id{0};
  strand_state state{strand_state::ready};
  bool timed_out{false};
  char name[16]{};
  picoseconds time{0};         // its clock; asleep with a deadline: the deadline
  std::size_t place{nowhere};  // in the heap of events

  struct {
    void* stack_pointer{nullptr};  // while it does not run
    void* stack{nullptr};          // null: the process's own
    void (*entry)(void*){nullptr};
    void* argument{nullptr};
  } context;

  // Copies, while it does not run.
  struct {
    detail::fork_queue* queue{nullptr};
    base::exception_state exceptions;
    int error{0};                             // errno
    void* slots[detail::thread_slots + 1]{};  // heddle_foreign_slots
  } saved;

  int bound{-1};  // index of a processing unit; -1: any
  int unit{-1};   // where it runs or is queued; -1: asleep or ended
  int last_unit{-1};
  picoseconds used{0};  // processor time, as its unit's queue is ordered by it

  struct {
    const void* on{nullptr};  // the word
    strand* next{nullptr};    // in a list of sleepers
  } sleeps;

  // tick.cpp
  struct {
    picoseconds next{never};  // the earliest of its timers' and the one sent; `never` while one is being delivered
    picoseconds sent{never};
    bool held{false};
  } ticks;
  struct {
    // It is ready and stands at the end of a charge, in which nothing has happened: so a tick may cut the charge short.
    bool open{false};
    activity as{activity::program};
    picoseconds owed{0};  // what was cut off and is still to come
  } charge;
  bool woken{false};     // while queued: its turn comes at once
  bool at_pause{false};  // it is in a pause of a loop that waits; a tick that comes there takes it back

  std::uint64_t held_back{0};    // explored: not chosen before this point unless nobody else can run
  std::uint64_t rests_until{0};  // the same, in code of the user's: at the latest until this point
  picoseconds spent[3]{};        // by activity
  double cycles_told{0};         // cost::cycles of the program
  memory_counts memory;          // once somebody wants it (program_costs::count_memory)

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

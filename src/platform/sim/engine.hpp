// Discrete events: which simulated kernel thread runs, and at what virtual time. Protocol and invariants: README.md.
// Source of the scheme: process interaction in virtual time, as in SimGrid (Casanova et al., JPDC 74(10), 2014). The
// order of strands on a shared unit is that of Linux's completely fair scheduler, simplified.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/sim/configuration.hpp"
#include "platform/sim/event_heap.hpp"
#include "platform/sim/program_costs.hpp"
#include "platform/sim/progress.hpp"
#include "platform/sim/strand.hpp"
#include "platform/sim/tick.hpp"

namespace heddle::sim {

class explorer;
class weak_memory;

inline constexpr int deadlock_status = 3;  // exit status of a process that is ended by a deadlock
inline constexpr int stall_status = 4;
inline constexpr int greed_status = 5;  // a worker sleeps beside work

struct engine_counts {
  std::uint64_t events{0};    // charges, sleeps and wake-ups
  std::uint64_t switches{0};  // from one strand to another
  std::uint64_t steals{0}, failed_steals{0}, migrations{0}, forks{0}, wakes{0}, sleeps{0};
  std::uint64_t ticks{0};  // delivered
};

// A set of workers, as it is announced to the engine.
struct runtime_note {
  const void* runtime;
  std::string policy;
  unsigned workers;
  picoseconds start;
  picoseconds end;              // `never` while it lives
  void (*report)(const void*);  // writes what its threads do to standard error
  // In exploration, at a moment when no strand is on the way to anything: whether a worker sleeps beside work. Null if
  // that is allowed.
  bool (*is_broken)(const void*){nullptr};
};

// There is one in a process at a time. Every function is called on its one kernel thread.
class engine {
 public:
  static constexpr picoseconds origin = 1'000'000'000 * nanosecond;  // the value of clocks when the program starts

  explicit engine(configuration c, explorer* chooser = nullptr);
  ~engine();
  bool explores() const noexcept { return chooser_ != nullptr; }
  // False in schedules that leave the fast paths of forks and joins as they are.
  bool watches_forks() const noexcept;
  bool reminds() noexcept;
  // Null if nothing is explored.
  explorer* chooser() noexcept { return chooser_; }
  // Null unless some atomics are weak at present (explorer.hpp).
  weak_memory* weak() const noexcept;

  const configuration& settings() const noexcept { return settings_; }
  strand& self() noexcept { return *self_; }
  const std::vector<std::unique_ptr<strand>>& strands() const noexcept { return strands_; }
  engine_counts& counts() noexcept { return counts_; }

  // The parts of the engine. They are bound to this engine, which therefore is not copied.
  program_costs& costs() noexcept { return costs_; }
  class ticks& ticks() noexcept { return ticks_; }
  // Includes the running strand's stretch.
  const class progress& progress() noexcept {
    progress_.end_stretch(*self_);
    return progress_;
  }

  // The clock of the running strand, including what it computed since its last call.
  picoseconds now() noexcept {
    costs_.take_measured();
    return self_->time;
  }

  // Makes the running strand spend `cost`, given for a core of speed 1. Strands that are earlier than its new clock go
  // on first.
  void charge(activity what, picoseconds cost) noexcept {
    costs_.take_measured();
    ++counts_.events;
    if (what != activity::program) progress_.end_stretch(*self_);
    if (what != activity::search) progress_.was_made();
    advance(what, scaled(cost));
    costs_.mark();
  }
  // In exploration another strand may go on here. Called before each atomic operation.
  void interleave() noexcept;
  // One turn of a loop that waits for another strand.
  void spin(picoseconds cost) noexcept;
  // The same in user code, where an explorer may let the strand rest until no other strand can go on.
  void spin_in_program(picoseconds cost) noexcept;
  void yield() noexcept;

  // Returns null if there is no memory. The strand starts at the caller's time plus the latency of a wake-up, bound to
  // the unit with that number if there is one.
  [[nodiscard]] strand* start(void (*entry)(void*), void* argument, const char* name, int number = -1) noexcept;
  // Sleeps on `word` until woken. Returns false if `deadline` came first; `never` means no deadline.
  bool sleep(const void* word, picoseconds deadline) noexcept;
  // Wakes at most `most` strands that sleep on `word`, the longest asleep first. Returns how many it woke.
  unsigned wake(const void* word, unsigned most) noexcept;
  void join(strand& s) noexcept;
  // Binds the running strand to the unit with the operating system's number; negative means any unit. Returns false if
  // there is no such unit.
  bool bind(int number) noexcept;
  // The unit to which the running strand is bound, by the same number; -1 if it is bound to none.
  int bound_unit() const noexcept;

  // Called after fork() in the child, where the running strand is the only one.
  void keep_only_self() noexcept;

  // The runtimes that were started. When every strand sleeps for ever, the live ones report before the process ends.
  std::vector<runtime_note>& runtimes() noexcept { return runtimes_; }

  // Called when the watch has found the process computing. `program` says whether that was in code outside the
  // simulator. Async-signal-safe.
  progress::quiet beat(unsigned times, bool program) noexcept {
    if (program && in_program()) self_->stretch.beats = self_->stretch.beats + times;
    return progress_.beat(times, counts_.events);
  }
  // Ends the process, because it has only waited for too long. Called on the kernel thread of the process, or in a
  // signal handler there.
  [[noreturn]] void stall(double cpu_seconds) noexcept;

 private:
  friend class program_costs;
  friend class ticks;

  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;

  struct unit {
    strand* occupant{nullptr};
    std::vector<strand*> queue;  // in order of arrival
    double slowness{1};          // 1 / speed
  };

  [[gnu::always_inline]] void point() noexcept {
    if (chooser_ != nullptr) [[unlikely]]
      return choose_at_point(false);
    if (events_.earlier_than(*self_)) [[unlikely]]
      go_to_earliest();
  }
  // For the running strand's unit.
  double slowness() const noexcept {
    return self_->unit < 0 ? 1.0 : units_[static_cast<unsigned>(self_->unit)].slowness;
  }
  picoseconds scaled(picoseconds cost) const noexcept {
    const double by = slowness();
    return by == 1.0 ? cost : static_cast<picoseconds>(static_cast<double>(cost) * by + 0.5);
  }
  bool unit_is_wanted() const noexcept {
    return self_->unit >= 0 && !units_[static_cast<unsigned>(self_->unit)].queue.empty();
  }
  // Accesses of all units are served in the order of their time.
  void begin_access() noexcept {
    point();
    ++counts_.events;
    progress_.was_made();
  }
  void cut_short(strand& s, picoseconds to) noexcept;
  picoseconds latency_of_wake(const strand& s) const noexcept;
  bool shares_unit(const strand& s) const noexcept {
    return ticks_.are_heard() && s.bound >= 0 && s.bound == self_->unit;
  }
  void give_way(strand& s) noexcept;
  void spend(activity what, picoseconds cost) noexcept {
    self_->time += cost;
    self_->used += cost;
    self_->spent[static_cast<unsigned>(what)] += cost;
  }
  // The latest clock of all strands that have run.
  picoseconds latest() const noexcept { return latest_ > self_->time ? latest_ : self_->time; }
  // The same as stall() in exploration, at which the watch does not look.
  [[noreturn]] void explored_stall() noexcept;
  [[noreturn]] void broken_promise(const runtime_note& note) noexcept;
  [[noreturn]] void fail(const char* what, int status) noexcept;
  void say_others() noexcept;
  bool in_program() const noexcept;
  void advance(activity what, picoseconds cost) noexcept;
  void go_to_earliest() noexcept;
  void choose_at_point(bool must_switch) noexcept;
  strand& next() noexcept;
  strand& after_deadline(strand& s) noexcept;
  strand& choose() noexcept;
  void end_rests() noexcept;
  void leave_for_next() noexcept;
  void switch_to(strand& s, strand* ended = nullptr) noexcept;
  static void run(void* self);
  [[noreturn]] void end_self() noexcept;
  [[noreturn]] void deadlock() noexcept;

  // units.cpp
  void arrive(strand& s) noexcept;  // it can run from s.time on
  void leave_unit(strand& s) noexcept;
  void pull_into(unit& idle) noexcept;
  void hand_over(unit& u, picoseconds at, picoseconds switch_time) noexcept;
  void take_turns() noexcept;
  int index_of(int number) const noexcept;
  int free_unit(int preferred) const noexcept;
  int unit_for(strand& s) noexcept;
  void enqueue(unsigned index, strand& s) noexcept;

  strand*& sleepers_of(const void* word) noexcept;
  void remove_sleeper(strand& s) noexcept;
  void resume(strand& s) noexcept;

  configuration settings_;
  explorer* chooser_;
  program_costs costs_;
  class ticks ticks_;
  class progress progress_;
  strand* self_;
  event_heap events_;
  picoseconds latest_{origin};
  engine_counts counts_;
  std::vector<unit> units_;
  std::size_t queued_{0};         // in the queues of all units
  std::vector<strand*> buckets_;  // sleepers by word, newest last
  std::vector<std::unique_ptr<strand>> strands_;
  std::vector<runtime_note> runtimes_;
  base::exception_state& exceptions_;  // that of the one kernel thread
};

// The engine of the process; made with default settings at the first use if none was begun.
extern engine* active;
[[gnu::cold]] engine& begin_default();
inline engine& here() noexcept {
  if (active == nullptr) [[unlikely]]
    return begin_default();
  return *active;
}

}  // namespace heddle::sim

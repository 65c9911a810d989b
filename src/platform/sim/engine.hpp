// Discrete events: which simulated kernel thread runs, and when it is. Protocol and invariants: README.md.
// Source of the scheme: process interaction in virtual time, as in SimGrid (Casanova et al., JPDC 74(10), 2014); the
// order of turns on a shared unit is that of Linux's completely fair scheduler, simplified.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/platform.hpp"
#include "platform/sim/configuration.hpp"
#include "platform/sim/cpu_meter.hpp"
#include "platform/sim/event_heap.hpp"
#include "platform/sim/strand.hpp"

namespace heddle::sim {

class explorer;

struct engine_counts {
  std::uint64_t events{0};    // charges, sleeps and wake-ups
  std::uint64_t switches{0};  // from one strand to another
  std::uint64_t steals{0}, failed_steals{0}, migrations{0}, forks{0}, wakes{0}, sleeps{0};
  std::uint64_t ticks{0};  // delivered
};

// A set of workers, as the engine hears of it.
struct runtime_note {
  const void* runtime;
  std::string policy;
  unsigned workers;
  picoseconds start;
  picoseconds end;              // never: it lives
  void (*report)(const void*);  // writes what its threads do to standard error
};

// One a process at a time; every function is called on its one kernel thread.
class engine {
 public:
  static constexpr picoseconds origin = 1'000'000'000 * nanosecond;  // what clocks show when the program starts
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;

  explicit engine(configuration c, explorer* chooser = nullptr);
  bool explores() const noexcept { return chooser_ != nullptr; }
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  const configuration& settings() const noexcept { return settings_; }
  strand& self() noexcept { return *self_; }
  const std::vector<std::unique_ptr<strand>>& strands() const noexcept { return strands_; }
  engine_counts& counts() noexcept { return counts_; }
  // The latest clock of all strands that ran.
  picoseconds latest() const noexcept { return latest_ > self_->time ? latest_ : self_->time; }

  // The clock of the running strand, what it computed since its last call included.
  picoseconds now() noexcept {
    take_measured();
    return self_->time;
  }

  // The running strand spends `cost` (as on a core of speed 1). Strands that are earlier than its new clock go on
  // first.
  void charge(activity what, picoseconds cost) noexcept {
    take_measured();
    ++counts_.events;
    if (what != activity::program) end_stretch();
    if (what != activity::search) ++progress_;
    advance(what, scaled(cost));
    mark();
  }
  // Where interleavings are explored: another strand may go on here. Called before each atomic operation.
  void interleave() noexcept;
  // A turn of a loop that waits for somebody else.
  void spin(picoseconds cost) noexcept;
  void yield() noexcept;
  void cycles(double n) noexcept;
  void access(std::uint64_t address, std::uint64_t bytes, bool write) noexcept;
  void access_rows(rows* sets, std::size_t set_count, std::uint64_t count) noexcept;  // moves the sets on

  // From now on each strand has what its own accesses cost (strand::memory). Changes no time.
  void count_memory() noexcept {
    if (settings_.counts == nullptr) return;
    settings_.counts(settings_.memory, 0, known_of_memory_);
    counts_memory_ = true;
  }
  // Which of these figures the machine has, by the has_ members.
  const memory_counts& known_of_memory() const noexcept { return known_of_memory_; }

  // Null: no memory. The strand starts at the caller's time plus the latency
  // of a wake-up, bound to the unit with that number if there is one.
  [[nodiscard]] strand* start(void (*entry)(void*), void* argument, const char* name, int number = -1) noexcept;
  // Sleeps on `word` until woken; false: `deadline` came first. `never`: no deadline.
  bool sleep(const void* word, picoseconds deadline) noexcept;
  // Wakes at most `most` strands that sleep on `word`, longest asleep first; returns how many.
  unsigned wake(const void* word, unsigned most) noexcept;
  void join(strand& s) noexcept;
  // To a unit by the operating system's number; negative: any. False: there is no such unit.
  bool bind(int number) noexcept;

  // --- ticks (tick.cpp): signals of timers, and sent ones ---

  // `handler` is called on the strand that gets a tick, at a point where its clock has reached the tick's time. It may
  // leave that stack, which another strand may go on with.
  void listen(void (*handler)(void* owner, platform::interrupted& what) noexcept) noexcept;
  // A timer of the running strand. Not negative.
  [[nodiscard]] int make_timer(void* owner);
  // The timer may be that of the running strand. first 0: no more ticks.
  void set_timer(int timer, picoseconds first, picoseconds interval) noexcept;
  void drop_timer(int timer) noexcept;
  void send_tick(unsigned strand) noexcept;

  // The program tells its costs: what it does not tell is free from now on, and so is what it did so far.
  void declare_costs() noexcept;
  bool measures() const noexcept { return measures_; }

  // After fork(), in the child: the running strand is the only one.
  void keep_only_self() noexcept;

  // Runtimes that were started; the live ones report when every strand sleeps for ever, before the process ends.
  std::vector<runtime_note>& runtimes() noexcept { return runtimes_; }

  // CPU time of this machine that the program has used, in beats of cpu_watch: all of it; and that of stretches between
  // two operations of the scheduler in which it told no cost.
  std::uint64_t program_beats() noexcept;
  std::uint64_t untold_beats() noexcept;
  // The watch has found the process computing; `program`: in code that is not the simulator's. Async-signal-safe.
  // Returns how many beats in a row have found that nobody did anything but wait since the beat before.
  std::uint64_t beat(unsigned times, bool program) noexcept;
  std::uint64_t quiet_beats() const noexcept { return quiet_beats_; }
  // Ends the process: nothing but waiting for too long. On the kernel
  // thread of the process, or in a signal handler there.
  [[noreturn]] void stall(double cpu_seconds) noexcept;

  // The same where interleavings are explored, which the watch does not look at.
  [[noreturn]] void explored_stall() noexcept;

  static constexpr int deadlock_status = 3;  // exit status of a process that is ended by a deadlock
  static constexpr int stall_status = 4;

 private:
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
  picoseconds scaled(picoseconds cost) const noexcept {
    const double slowness = self_->unit < 0 ? 1.0 : units_[static_cast<unsigned>(self_->unit)].slowness;
    return slowness == 1.0 ? cost : static_cast<picoseconds>(static_cast<double>(cost) * slowness + 0.5);
  }
  [[gnu::cold]] picoseconds rest_after_ticks(picoseconds rest) noexcept;
  [[gnu::cold]] void take_tick() noexcept;
  void tick_at_explored_point() noexcept;
  void find_next_tick(strand& s) noexcept;
  void interrupt(strand& s) noexcept;
  void cut_short(strand& s, picoseconds to) noexcept;
  void forget_ticks(strand& s) noexcept;
  picoseconds latency_of_wake(const strand& s) const noexcept;
  bool shares_unit(const strand& s) const noexcept {
    return listener_ != nullptr && s.bound >= 0 && s.bound == self_->unit;
  }
  void give_way(strand& s) noexcept;
  void spend(activity what, picoseconds cost) noexcept {
    self_->time += cost;
    self_->used += cost;
    self_->spent[static_cast<unsigned>(what)] += cost;
  }
  // One access of the memory model by the running strand, counted for it if somebody wants that.
  template <class Access>
  picoseconds counted(unsigned on, Access access) noexcept {
    if (!counts_memory_) [[likely]]
      return access();
    return counted_access(on, [](void* of) { return (*static_cast<Access*>(of))(); }, &access);
  }
  picoseconds counted_access(unsigned on, picoseconds (*access)(void*), void* of) noexcept;
  void take_measured() noexcept {
    if (measures_) [[unlikely]]
      measure();
  }
  void mark() noexcept {
    if (measures_) [[unlikely]]
      meter_.mark();
  }
  void end_stretch() noexcept {
    if (self_->stretch.beats != 0) [[unlikely]]
      count_stretch(*self_);
    self_->stretch.told = false;
  }
  void count_stretch(strand& s) noexcept;
  [[noreturn]] void fail(const char* what, int status) noexcept;
  void say_others() noexcept;
  bool in_program() const noexcept;
  void measure() noexcept;
  void advance(activity what, picoseconds cost) noexcept;
  void go_to_earliest() noexcept;
  void choose_at_point(bool must_switch) noexcept;
  strand& next() noexcept;
  strand& after_deadline(strand& s) noexcept;
  strand& choose() noexcept;
  void leave_for_next() noexcept;
  void switch_to(strand& s, strand* ended = nullptr) noexcept;
  static void run(void* self);
  [[noreturn]] void end_self() noexcept;
  [[noreturn]] void deadlock() noexcept;

  // units.cpp
  void arrive(strand& s) noexcept;  // can run from s.time on
  void leave_unit(strand& s) noexcept;
  void hand_over(unit& u, picoseconds at, picoseconds switch_time) noexcept;
  void take_turns() noexcept;
  int index_of(int number) const noexcept;
  int free_unit(int preferred) const noexcept;
  int unit_for(strand& s) noexcept;
  void enqueue(unsigned index, strand& s) noexcept;

  strand*& sleepers_of(const void* word) noexcept;
  void remove_sleeper(strand& s) noexcept;

  configuration settings_;
  explorer* chooser_;
  cpu_meter meter_;
  bool measures_{false};
  bool counts_memory_{false};
  memory_counts known_of_memory_;
  strand* self_;
  event_heap events_;
  picoseconds latest_{origin};
  engine_counts counts_;
  std::uint64_t program_beats_{0}, untold_beats_{0};
  std::uint64_t progress_{0};  // costs told, operations of the scheduler that are no search
  std::uint64_t seen_progress_{0}, seen_events_{0}, quiet_beats_{0};  // of the watch; the first also of the explorer
  std::uint64_t quiet_since_{0};                                      // explored: the point at which that was seen
  std::vector<unit> units_;
  std::vector<strand*> buckets_;  // sleepers by word, newest last
  std::vector<std::unique_ptr<strand>> strands_;
  std::vector<runtime_note> runtimes_;
  struct tick_timer {
    strand* target;  // null: free
    void* owner;
    picoseconds next, interval;
  };
  void (*listener_)(void*, platform::interrupted&) noexcept {nullptr};
  std::vector<tick_timer> timers_;
  picoseconds signal_lock_free_{0};    // signals are delivered one after the other so far
  base::exception_state& exceptions_;  // of the one kernel thread
};

// The engine of the process; made with default settings at the first use if nobody began one.
extern engine* active;
[[gnu::cold]] engine& begin_default();
inline engine& here() noexcept {
  if (active == nullptr) [[unlikely]]
    return begin_default();
  return *active;
}

}  // namespace heddle::sim

// The barrier of a team; who waits there runs the team's tasks. A team has two: that of the barriers in its region, and
// that of the region's end, at which member 0 alone waits for the others, who go and wait for their next region.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::omp {

class thread;
struct team;

class team_barrier {
 public:
  // Returns when all members of the team have arrived, and all tasks of the team have ended. True: cancelled meanwhile,
  // which is looked for if `cancellable` ([barrier:5]).
  bool wait(thread& self, team& t, bool cancellable = false);

  // The barrier of a region's end. Member 0: as wait. Any other arrives alone; returns the phase that its arrival
  // belongs to, for help().
  void wait_for_members(thread& self, team& t) { wait(self, t); }
  std::uint32_t arrive(team& t);
  // A member that has arrived and waits for its next region runs a task of the old one, if that phase is still under
  // way ([barrier:6]). False: there was none to run.
  bool help(thread& self, team& t, std::uint32_t phase);
  bool is_over(std::uint32_t phase) const noexcept { return phase_of(word_.load(std::memory_order_acquire)) != phase; }

  // The team may have no task left that has not ended. After the last one's end.
  void tasks_ended(team& t) noexcept;

  // The phase of a member that has not arrived at its end.
  std::uint32_t phase() const noexcept {
    return phase_of(word_.load(std::memory_order_relaxed));  // it has seen the last end, and the next one waits for it
  }
  // The caller is the team's only member and there are no tasks: what a barrier is then.
  void begin_next() noexcept {
    word_.store(word_.load(std::memory_order_relaxed) + one_phase, std::memory_order_relaxed);  // nobody else is here
  }
  // Before a region whose predecessor was cancelled: nobody is here.
  void forget_arrivals() noexcept;

 private:
  static constexpr std::uint64_t one_phase = std::uint64_t{1} << 32;
  static std::uint32_t phase_of(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word >> 32); }
  static std::uint32_t arrived_of(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word); }

  bool try_to_end(team& t, unsigned size) noexcept;

  // {phase:32, arrived:32}. Changed by each arrival, and by whoever ends the phase; publishes what members did before.
  std::atomic<std::uint64_t> word_{0};
  // Members that run tasks though they have arrived for good: the next region begins when there are none.
  std::atomic<std::uint32_t> helpers_{0};
};

}  // namespace heddle::omp

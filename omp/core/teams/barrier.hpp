// The barrier of a team. Members that wait there run the team's tasks. A team has two barriers: that of the barriers in
// its region, and that of the region's end. At the second one only member 0 waits; the others go and wait for their
// next region.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::omp {

class thread;
struct team;

class team_barrier {
 public:
  // Returns when all members of the team have arrived, and all tasks of the team have ended. Returns true if the region
  // was cancelled meanwhile, which is checked if `cancellable` ([barrier:5]).
  bool wait(thread& self, team& t, bool cancellable = false);

  // The barrier of a region's end. Member 0 calls wait_for_members, which is like wait. Every other member only
  // arrives; arrive returns the phase of the arrival, for help().
  void wait_for_members(thread& self, team& t) { wait(self, t); }
  std::uint32_t arrive(team& t);
  // Called by a member that has arrived and waits for its next region. Runs a task of the old region if that phase is
  // still under way ([barrier:6]). Returns false if there was none to run.
  bool help(thread& self, team& t, std::uint32_t phase);
  bool is_over(std::uint32_t phase) const noexcept { return phase_of(word_.load(std::memory_order_acquire)) != phase; }

  // Called after the end of a task, if the team may have no unfinished task left.
  void tasks_ended(team& t) noexcept;

  // The phase of a member that has not arrived at its end.
  std::uint32_t phase() const noexcept {
    // relaxed: the member has seen the last end, and the next one waits for it
    return phase_of(word_.load(std::memory_order_relaxed));
  }
  // The barrier of a team that has only the caller and no tasks.
  void begin_next() noexcept {
    // relaxed: no other thread is here
    word_.store(word_.load(std::memory_order_relaxed) + one_phase, std::memory_order_relaxed);
  }
  // Called before a region whose predecessor was cancelled, when no thread is here.
  void forget_arrivals() noexcept;

 private:
  static constexpr std::uint64_t one_phase = std::uint64_t{1} << 32;
  static std::uint32_t phase_of(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word >> 32); }
  static std::uint32_t arrived_of(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word); }

  bool try_to_end(team& t, unsigned size) noexcept;

  // {phase:32, arrived:32}. Changed by each arrival, and by the thread that ends the phase. Publishes what members did
  // before.
  std::atomic<std::uint64_t> word_{0};
  // The members that run tasks though they have arrived for good. The next region begins when there are none.
  std::atomic<std::uint32_t> helpers_{0};
};

}  // namespace heddle::omp

// The choice of the strand that goes on at a scheduling point when interleavings are explored instead of timed. There
// are two searches: random choice, and a few forced switches at random places (most bugs need one or two: Musuvathi,
// Qadeer, "Iterative context bounding", PLDI 2007; the places are drawn as in Burckhardt et al., "A randomized
// scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "platform/sim/strand.hpp"
#include "platform/sim/weak_memory.hpp"

namespace heddle::sim {

class explorer {
 public:
  struct plan {
    std::uint64_t seed{1};
    // The number of forced switches. With 0 there is any number, each with probability 1 / mean_run.
    unsigned preemptions{0};
    unsigned mean_run{8};          // points between two switches of the random search
    std::uint64_t length{20'000};  // points among which the forced switches are drawn
    unsigned ticks{0};             // the most ticks that come before their time
    // The number of points, of strands with a timer, among which these are drawn.
    std::uint64_t tick_length{200};
    // The strand rests in one of so many pauses of user code; with 0 in none.
    unsigned rest_every{0};
    // A worker is reminded of what waits at one of so many of its choices; with 0 at none.
    unsigned remind_every{0};
    // Limits of fork queues are not poisoned without need. For programs whose own forks and joins are points, too.
    bool fast_paths{false};
  };
  // Odd seeds search at random with runs of 2 to 64 points, even seeds with one to four forced switches. There are no
  // to six early ticks, rests in two schedules of three, reminders in three of seven, and fast paths in two of five.
  static plan plan_for(std::uint64_t seed) noexcept;

  explicit explorer(const plan& p);

  // At a point where `running` could go on: returns whether another strand must.
  bool preempts() noexcept {
    ++points_;
    if (preemptions_ == 0) return random_.below(mean_run_) == 0;
    if (next_ == places_.size() || points_ < places_[next_]) return false;
    ++next_;
    return true;
  }
  // At a point of a strand with a timer whose time has not come: returns whether a tick comes all the same. A kernel's
  // tick may come at any point. If ticks came at their own time only, most would never fall close to what they can
  // disturb.
  bool ticks() noexcept {
    ++tick_points_;
    if (next_tick_ == tick_places_.size() || tick_points_ < tick_places_[next_tick_]) return false;
    ++next_tick_;
    return true;
  }
  // The number of points for which a strand that was switched away from by force stays away, if others can run. A
  // kernel may keep a thread from its processor for as long as all others take to fall asleep.
  std::uint64_t hold_back() noexcept {
    if (preemptions_ == 0 && random_.below(16) != 0) return 0;
    return random_.below(longest_hold);
  }
  // Chooses one of the strands that could run.
  std::size_t choose(std::size_t candidates) noexcept { return random_.below(static_cast<std::uint32_t>(candidates)); }
  std::uint64_t points() const noexcept { return points_; }
  // At a pause of user code: returns whether the strand stays there until no other strand can go on. So by then
  // everything that others have published has been seen by all that should see it, and not by accident later.
  bool rests() noexcept { return rest_every_ != 0 && of_rests_.below(rest_every_) == 0; }
  // A limit, because others may never come to rest.
  std::uint64_t end_of_rest() const noexcept { return points_ + longest_rest; }
  // At a choice of a worker: returns whether another kernel thread has just reminded it of what waits.
  bool reminds() noexcept { return remind_every_ != 0 && of_reminders_.below(remind_every_) == 0; }
  bool leaves_fast_paths() const noexcept { return fast_paths_; }

  // The weak atomics, if there are any; else null.
  weak_memory* weak() const noexcept { return weak_.get(); }
  weak_memory& begin_weak() {
    if (weak_ == nullptr) weak_ = std::make_unique<weak_memory>(seed_, points_);
    return *weak_;
  }

 private:
  static constexpr std::uint32_t longest_hold = 2000;
  static constexpr std::uint32_t longest_rest = 20'000;

  base::random_source random_;
  const unsigned preemptions_;
  const unsigned mean_run_;
  std::vector<std::uint64_t> places_;  // the points of the forced switches, ascending
  std::size_t next_{0};
  std::uint64_t points_{0};
  std::vector<std::uint64_t> tick_places_;  // the points of the early ticks, ascending
  std::size_t next_tick_{0};
  std::uint64_t tick_points_{0};
  const unsigned rest_every_;
  base::random_source of_rests_;
  const unsigned remind_every_;
  base::random_source of_reminders_;
  const bool fast_paths_;
  const std::uint64_t seed_;
  std::unique_ptr<weak_memory> weak_;
};

}  // namespace heddle::sim

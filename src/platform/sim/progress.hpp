// Whether anything but waiting happens in a run, and how much of the program's CPU time goes by without a cost being
// told: what the watch (cpu_watch.hpp) counts, and where interleavings are explored, points. Read and written in the
// watch's signal handler, too, on the one kernel thread.
#pragma once

#include <cstdint>

#include "platform/sim/strand.hpp"

namespace heddle::sim {

class progress {
 public:
  // A cost was told, or the scheduler did something that is no search.
  void was_made() noexcept { ++made_; }

  // An operation of the scheduler ends the running strand's stretch.
  void end_stretch(strand& s) noexcept {
    if (s.stretch.beats != 0) [[unlikely]]
      count(s);
    s.stretch.told = false;
    s.stretch.overlap.end();
  }
  // CPU time of this machine that the program has used, in beats of the watch: all of it; and that of stretches between
  // two operations of the scheduler in which it told no cost.
  std::uint64_t program_beats() const noexcept { return program_beats_; }
  std::uint64_t untold_beats() const noexcept { return untold_beats_; }

  // How many beats in a row have found that nobody did anything but wait since the beat before.
  struct quiet {
    std::uint64_t before, now;
  };
  // `events`: the engine's, so far.
  quiet beat(unsigned times, std::uint64_t events) noexcept;
  // While it is quiet there were no events either: nobody has come to a point.
  bool is_silent(std::uint64_t events) const noexcept { return events == seen_events_; }

  // Explored, at each point, by its number: for more than `most` points there was no progress.
  bool stands_still(std::uint64_t point, std::uint64_t most) noexcept {
    if (made_ == seen_) return point - quiet_since_ > most;
    seen_ = made_;
    quiet_since_ = point;
    return false;
  }

 private:
  void count(strand& s) noexcept;

  std::uint64_t made_{0};
  std::uint64_t seen_{0};  // at the last beat or point
  std::uint64_t seen_events_{0}, quiet_beats_{0};
  std::uint64_t quiet_since_{0};  // the point at which there was progress
  std::uint64_t program_beats_{0}, untold_beats_{0};
};

}  // namespace heddle::sim

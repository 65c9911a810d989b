// Whether anything but waiting happens in a run, and how much of the program's CPU time goes by without a cost being
// told. It counts beats of the watch (cpu_watch.hpp), and in exploration points. The watch's signal handler, on the one
// kernel thread, also reads and writes it.
#pragma once

#include <cstdint>

#include "platform/sim/strand.hpp"

namespace heddle::sim {

class progress {
 public:
  // Called when a cost was told, or the scheduler did something other than search.
  void was_made() noexcept { ++made_; }

  // Called when an operation of the scheduler ends the running strand's stretch.
  void end_stretch(strand& s) noexcept {
    if (s.stretch.beats != 0) [[unlikely]]
      count(s);
    s.stretch.told = false;
    s.stretch.overlap.end();
  }
  // The program's CPU time on this machine, in beats of the watch: all of it; and the part in stretches between two
  // operations of the scheduler in which the program told no cost.
  std::uint64_t program_beats() const noexcept { return program_beats_; }
  std::uint64_t untold_beats() const noexcept { return untold_beats_; }

  // The number of beats in a row that have found that no strand did anything but wait since the beat before.
  struct quiet {
    std::uint64_t before, now;
  };
  // `events` is the engine's count so far.
  quiet beat(unsigned times, std::uint64_t events) noexcept;
  // Whether there were no events either while it is quiet, so that no strand has come to a point.
  bool is_silent(std::uint64_t events) const noexcept { return events == seen_events_; }

  // Called in exploration at each point, with the point's number. Returns whether there was no progress for more than
  // `most` points.
  bool stands_still(std::uint64_t point, std::uint64_t most) noexcept {
    if (made_ == seen_) return point - quiet_since_ > most;
    seen_ = made_;
    quiet_since_ = point;
    return false;
  }

 private:
  void count(strand& s) noexcept;

  std::uint64_t made_{0};
  std::uint64_t seen_{0};  // the value of made_ at the last beat or point
  std::uint64_t seen_events_{0}, quiet_beats_{0};
  std::uint64_t quiet_since_{0};  // the point of the last progress
  std::uint64_t program_beats_{0}, untold_beats_{0};
};

}  // namespace heddle::sim

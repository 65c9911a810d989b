/// Levels of threads.
#pragma once

namespace heddle {

/// Which of the ready threads of a runtime run first: those of a higher level before any of a lower one
/// (priority_mode). Every number from lowest to highest is a level, `heddle::priority{-3}` for one.
/// docs/guide/preemption.md says what is promised.
enum class priority : int {
  lowest = -7,
  low = -1,  ///< below all that says nothing: runs on workers that have nothing else, newest first
  normal = 0,
  high = 1,  ///< before all that says nothing, oldest first
  highest = 7,
};

/// Whether a thread may wait for its turn without an end.
enum class priority_mode {
  /// one that has been ready for 20 turns (`priority_aging`) has one, whatever
  /// is above it; no more than one turn in 20 of a worker goes that way
  aging,
  strict,  ///< as long as a thread is ready none below it runs: a thread that holds what a higher one spins for never
           ///< lets go
};

}  // namespace heddle

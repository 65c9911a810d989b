/// Levels of threads.
#pragma once

namespace heddle {

/// Which of the ready threads of a runtime run first: those of a higher level before any of a lower one
/// (priority_mode). Every number from lowest to highest is a level, `heddle::priority{-3}` for one.
/// docs/guide/preemption.md says what is promised. A thread that holds a heddle::mutex has at least the level of the
/// threads that wait for it; nothing else is inherited.
enum class priority : int {
  lowest = -7,
  low = -1,  ///< below all threads that ask for no level: runs on workers that have nothing else, newest first
  normal = 0,
  high = 1,  ///< before all threads that ask for no level, oldest first
  highest = 7,
};

/// Whether a ready thread may wait for its turn for ever.
enum class priority_mode {
  /// No: a thread that has been ready for 20 turns (`priority_aging`) has one, whatever is above it. No more than one
  /// turn in 20 of a worker goes that way.
  aging,
  /// Yes: as long as a thread is ready, none below it runs. So a thread that holds what a higher one spins for may
  /// never
  /// let go.
  strict,
};

}  // namespace heddle

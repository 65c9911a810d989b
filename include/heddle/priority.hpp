/// Priority levels of threads.
#pragma once

namespace heddle {

/// The level of a thread. Of a runtime's ready threads those of a higher level run before those of a lower one
/// (priority_mode). Every number from lowest to highest is a level, for example `heddle::priority{-3}`.
/// docs/guide/preemption.md states the guarantees. A thread that holds a heddle::mutex has at least the level of the
/// threads that wait for it; nothing else is inherited.
enum class priority : int {
  lowest = -7,
  /// Below all threads that ask for no level. Such threads run on workers that have nothing else, newest first.
  low = -1,
  normal = 0,
  high = 1,  ///< before all threads that ask for no level, oldest first
  highest = 7,
};

/// Whether a ready thread may wait for its time slice for ever.
enum class priority_mode {
  /// It may not: a thread that has been ready for 20 time slices (`priority_aging`) gets one, whatever is above it. At
  /// most one time slice in 20 of a worker goes that way.
  aging,
  /// It may: as long as a thread is ready, no thread of a lower level runs. So a thread that holds what a higher one
  /// spins for may never release it.
  strict,
};

}  // namespace heddle

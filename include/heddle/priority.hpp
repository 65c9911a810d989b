/// Strict levels of threads.
#pragma once

namespace heddle {

/// Which of the ready threads of a runtime run first: those of a higher level before any of a lower one. Every number from lowest to highest is a
/// level, `heddle::priority{-3}` for one. docs/guide/preemption.md says what is promised.
enum class priority : int {
  lowest = -7,
  low = -1,      ///< below all that says nothing: runs on workers that have nothing else, newest first
  normal = 0,
  high = 1,      ///< before all that says nothing, oldest first
  highest = 7,
};

}  // namespace heddle

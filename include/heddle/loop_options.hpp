/// What a program may say about a parallel loop. Everything is optional, and nothing is needed for correctness.
#pragma once

#include <cstddef>
#include <limits>
#include <stop_token>

#include <heddle/loop_schedule.hpp>

namespace heddle {

/// Of parallel_for, parallel_for_range and the scans.
struct loop_options {
  /// Iterations of a chunk: at least `grain` and fewer than twice as many (a shorter loop is one chunk). 0: chunks of 2
  /// to 4 us. Their length follows the time that iterations take, and begins with what the iterations of this call site
  /// took before.
  std::size_t grain{0};
  /// A request to stop drops the chunks that have not begun; the call returns normally.
  std::stop_token stop{};
  /// Work of one iteration, in any unit; NaN: unknown. Not used at present: policies take all iterations of a loop to
  /// be equal.
  double work_per_iteration{std::numeric_limits<double>::quiet_NaN()};
  /// Bytes of memory that one iteration touches, for policies that place by footprint; 0: unknown.
  std::size_t bytes_per_iteration{0};
  /// How iterations are shared out. Any but adaptive has chunks of its own, so that `grain` is not looked at. Scans are
  /// always adaptive.
  loop_schedule schedule{};
};

/// Of parallel_reduce.
struct reduce_options {
  std::size_t grain{0};  ///< as in loop_options
  /// The same values are combined in the same order whatever the workers, the policy and the schedule: results of
  /// floating point are the same bit for bit. They then depend on the length and `grain` alone.
  bool deterministic{false};
  std::stop_token stop{};  ///< chunks that have not begun are left out of the result
};

}  // namespace heddle

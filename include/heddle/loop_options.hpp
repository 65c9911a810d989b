/// Options of parallel loops. All are optional, and none is needed for correctness.
#pragma once

#include <cstddef>
#include <limits>
#include <stop_token>

#include <heddle/loop_schedule.hpp>

namespace heddle {

/// Options of parallel_for, parallel_for_range and the scans.
struct loop_options {
  /// The iterations of a chunk: at least `grain` and fewer than twice as many (a shorter loop is one chunk). With 0 a
  /// chunk takes 2 to 4 us: its length follows the time that iterations take, beginning with the time seen at this call
  /// site before.
  std::size_t grain{0};
  /// A stop request drops the chunks that have not begun; the call returns normally.
  std::stop_token stop{};
  /// The work of one iteration in any unit, or NaN if unknown. It is not used at present: policies assume that all
  /// iterations of a loop are equal.
  double work_per_iteration{std::numeric_limits<double>::quiet_NaN()};
  /// The bytes of memory that one iteration touches, or 0 if unknown, for policies that place by footprint.
  std::size_t bytes_per_iteration{0};
  /// How the iterations are shared out. Every schedule but adaptive has chunks of its own and ignores `grain`. Scans
  /// are always adaptive.
  loop_schedule schedule{};
};

/// Options of parallel_reduce.
struct reduce_options {
  std::size_t grain{0};  ///< as in loop_options
  /// If true, the same values are combined in the same order whatever the workers, the policy and the schedule, so
  /// results of floating point are the same bit for bit. They then depend on the length and `grain` alone.
  bool deterministic{false};
  std::stop_token stop{};  ///< chunks that have not begun are left out of the result
};

}  // namespace heddle

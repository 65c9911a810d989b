/// What tasks send to each other, for policies that place them by it.
#pragma once

#include <heddle/export.hpp>
#include <heddle/policy.hpp>

namespace heddle {

/// The calling task has sent so many messages to child `to` of its own group, by the order in which the group's
/// children were made, from 0 on; or it shares data with that child, and the number is that of the accesses. How much
/// in all is added up over an iteration: over all that is said while the group's children run.
///
/// A hint. Today numalb hears it, of the tasks that it places. Under other policies, on foreign threads, and for a
/// number that is negative or none it does nothing. Thread context: any; does not suspend.
HEDDLE_API void communicates(unsigned to, double messages = 1) noexcept;

namespace policy {

/// A policy hears of `communicates` if it derives from this, too.
class hears_communication {
 public:
  /// On the worker that runs `by`, with preemption off, under the rules of the other functions [seam:2].
  virtual void communicates(unsigned self, task& by, unsigned to, double messages) noexcept = 0;

 protected:
  ~hears_communication() = default;
};

}  // namespace policy

}  // namespace heddle

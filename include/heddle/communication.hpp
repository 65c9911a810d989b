/// Hints about the data that tasks send to each other, for policies that place tasks by them.
#pragma once

#include <heddle/export.hpp>
#include <heddle/policy.hpp>

namespace heddle {

/// Says that the calling task has sent `messages` messages to child `to` of its own group. The children of a group are
/// numbered from 0 in the order in which they were made. If the task shares data with the child, `messages` is the
/// number of accesses. The numbers are added up over an iteration, that is, over all calls made while the group's
/// children run.
///
/// This is a hint. Among heddle's policies numalb alone uses it, and only where it places the tasks itself. The call
/// does nothing under other policies, on foreign threads, and for a number that is negative or not a number. Thread
/// context: any; does not suspend.
HEDDLE_API void communicates(unsigned to, double messages = 1) noexcept;

namespace policy {

/// The interface of a policy that is told of `communicates`: such a policy derives from this class, too.
class hears_communication {
 public:
  /// Called on the worker that runs `by`, with preemption off, under the rules of the other functions [seam:2].
  virtual void communicates(unsigned self, task& by, unsigned to, double messages) noexcept = 0;

 protected:
  ~hears_communication() = default;
};

}  // namespace policy

}  // namespace heddle

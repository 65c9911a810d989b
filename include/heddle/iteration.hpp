/// Where an iteration of a program begins, for policies that place the tasks of one by what they saw in those before.
#pragma once

#include <heddle/export.hpp>

namespace heddle {

/// What the calling thread makes from here on belongs to the next iteration of a loop. It ends with the next mark of
/// the same thread, with the end of a group that was there before the mark, or with the thread. Marks of equal `label`
/// are of one loop; null: the place that calls.
///
/// A hint. Today constrained_ws hears it. Without marks it takes each group, fork or loop that is inside no other for
/// an iteration, so a program whose outermost group encloses its loop has a single one, and is never replayed. With
/// marks all that is between two of them is one iteration. To be called by a thread that is nobody's child, between
/// forks: elsewhere, under other policies and on foreign threads it does nothing. Thread context: any; may suspend
/// and migrate a user-level thread.
HEDDLE_API void next_iteration(const void* label = nullptr) noexcept;

}  // namespace heddle

/// Marks of a program's iterations, for policies that place the tasks of an iteration by what they saw in earlier ones.
#pragma once

#include <heddle/export.hpp>

namespace heddle {

/// Says that all tasks the calling thread makes from here on belong to the next iteration of a loop. The iteration ends
/// with the next mark of the same thread, with the end of a group that existed before the mark, or with the thread.
/// Marks with equal `label` belong to one loop. A null label stands for the place of the call.
///
/// This is a hint. Among heddle's policies constrained_ws, locality_ws, cab-fto, cab-gto, laws and laws-nc use it.
/// Without marks these policies take each group, fork or loop that is inside no other for an iteration. So a program
/// whose outermost group encloses its loop has a single iteration, of which no task comes again. With marks everything
/// between two of them is one iteration. It must be called between forks, by a thread that is nobody's child.
/// The aats policies take a mark for the beginning of a batch of tasks. Elsewhere, under other policies and on foreign
/// threads it does nothing. Thread context: any; may suspend and migrate
/// a user-level thread.
HEDDLE_API void next_iteration(const void* label = nullptr) noexcept;

}  // namespace heddle

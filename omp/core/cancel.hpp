// Cancellation of regions, loops and sections; that of task groups is the tasks'.
#pragma once

namespace heddle::omp {

class thread;

enum class cancels : int { nothing = 0, parallel = 1, loop = 2, sections = 3, taskgroup = 4 };

// True: the construct is cancelled, and the caller is to leave it. Nothing where OMP_CANCELLATION is not true.
bool cancel(thread& self, cancels what);
bool is_cancelled(thread& self, cancels what) noexcept;

}  // namespace heddle::omp

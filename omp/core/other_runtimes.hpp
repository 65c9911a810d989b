// Runtimes of OpenMP that the process has loaded beside this one: of a Python wheel, for example, under a name of its
// own.
#pragma once

namespace heddle::omp {

// At the end of the process, on standard error: those whose functions are not replaced by ours, by name; with `all` the
// others, too.
void report_other_runtimes(bool all) noexcept;

}  // namespace heddle::omp

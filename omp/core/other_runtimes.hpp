// OpenMP runtimes that the process has loaded beside this one, for example from a Python wheel, under a name of its
// own.
#pragma once

namespace heddle::omp {

// Called at the end of the process. Names, on standard error, the runtimes whose functions are not replaced by ours;
// with `all` the others, too.
void report_other_runtimes(bool all) noexcept;

}  // namespace heddle::omp

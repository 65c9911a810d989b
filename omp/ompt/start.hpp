// The way in which a tool is found, begins and ends (OpenMP 5.1, section 4.2).
#pragma once

namespace heddle::omp::ompt {

// Tells the tool that its threads end, as far as this thread can say so, and dismisses it. Does nothing if there is
// none.
void finish() noexcept;

}  // namespace heddle::omp::ompt

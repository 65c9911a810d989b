// Work-sharing constructs: loops, sections, single, copyprivate, ordered, doacross, scan.
#pragma once

namespace heddle::omp {}  // namespace heddle::omp

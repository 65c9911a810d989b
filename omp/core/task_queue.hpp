// The tasks that a thread has made and nobody has begun: its own end, and the thieves' end.
#pragma once

namespace heddle::omp {}  // namespace heddle::omp

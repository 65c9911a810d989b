// The barrier of a team; who waits there runs the team's tasks.
#pragma once

namespace heddle::omp {}  // namespace heddle::omp

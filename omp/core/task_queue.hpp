// The tasks that a thread has made and nobody has begun: its own end, and the thieves' end.
#pragma once

namespace heddle::omp {

class task_queue {};

}  // namespace heddle::omp

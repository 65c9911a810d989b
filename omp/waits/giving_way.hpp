// The step of a member that waits in a loop of its own.
#pragma once

#include "omp/seam.hpp"
#include "omp/waits/member.hpp"
#include "omp/waits/real.hpp"

namespace heddle::omp::waits {

// Called by a member: lets others of its worker run. A kernel thread that is not heddle's (main is member 0) may have
// to end the wait, so the processor is given away, too; seldom, if other members have just run.
inline void give_way() noexcept {
  constexpr unsigned between = 16;
  static thread_local constinit unsigned turns [[gnu::tls_model("initial-exec")]] = 0;
  heddle::detail::yield();
  if (!heddle_omp_is_crowded() || ++turns % between == 0) real::sched_yield();
}

}  // namespace heddle::omp::waits

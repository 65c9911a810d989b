// Cancellation with its events. Entry points call these functions in place of the ones in core/teams/cancel.hpp.
#pragma once

#include "omp/core/teams/cancel.hpp"
#include "omp/ompt/tasks.hpp"

namespace heddle::omp::ompt {

inline int flag_of(cancels what) noexcept {
  switch (what) {
    case cancels::parallel: return ompt_cancel_parallel;
    case cancels::loop: return ompt_cancel_loop;
    case cancels::sections: return ompt_cancel_sections;
    default: return ompt_cancel_taskgroup;
  }
}

inline bool cancel(thread& self, cancels what, const void* code) {
  const bool done = heddle::omp::cancel(self, what);
  if (done && on()) [[unlikely]]
    cancelled(self, flag_of(what) | ompt_cancel_activated, code);
  return done;
}

inline bool is_cancelled(thread& self, cancels what, const void* code) {
  const bool done = heddle::omp::is_cancelled(self, what);
  if (done && on()) [[unlikely]]
    cancelled(self, flag_of(what) | ompt_cancel_detected, code);
  return done;
}

}  // namespace heddle::omp::ompt

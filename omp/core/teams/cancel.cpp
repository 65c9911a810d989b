#include "omp/core/teams/cancel.hpp"

#include "omp/core/settings/environment.hpp"
#include "omp/core/tasks/task_group.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

void phase_cancellations::note(std::uint32_t phase, cancels what) noexcept {
  std::atomic<std::uint64_t>& word = words_[phase % 2];
  const std::uint64_t told = std::uint64_t{phase} << 32 | static_cast<std::uint64_t>(what);
  std::uint64_t was = word.load();
  do {
    if (static_cast<std::uint32_t>(was >> 32) == phase && (was & 0xff) != 0 && what != cancels::parallel) return;
  } while (!word.compare_exchange_weak(was, told));
}

bool cancel(thread& self, cancels what) {
  if (!may_cancel()) return false;
  team& t = *self.in;
  switch (what) {
    case cancels::parallel:
      t.cancellations.note(t.barrier.phase(), what);
      t.cancelled.store(true);
      t.wake_all();  // wakes members at a barrier to which others will not come
      return true;
    case cancels::loop:
    case cancels::sections:
      t.cancellations.note(t.barrier.phase(), what);
      cancel_loop(self);
      return true;
    case cancels::taskgroup: return cancel_group(self);
    case cancels::nothing: break;
  }
  return false;
}

bool is_cancelled(thread& self, cancels what) noexcept {
  if (!may_cancel()) return false;
  const team& t = *self.in;
  switch (what) {
    case cancels::parallel: return t.cancelled.load();
    case cancels::loop:
    case cancels::sections: return t.cancellations.in(t.barrier.phase()) != cancels::nothing;
    case cancels::taskgroup: return group_cancelled(*self.running);
    case cancels::nothing: break;
  }
  return false;
}

}  // namespace heddle::omp

#include "omp/core/cancel.hpp"

#include "omp/core/environment.hpp"
#include "omp/core/task_group.hpp"
#include "omp/core/team.hpp"
#include "omp/core/thread.hpp"

namespace heddle::omp {

bool cancel(thread& self, cancels what) {
  if (!may_cancel()) return false;
  team& t = *self.in;
  int none = 0;
  switch (what) {
    case cancels::parallel:
      t.cancel_kind.store(static_cast<int>(what));
      t.cancelled.store(true);
      t.wake_all();  // those who wait at a barrier that others will not come to
      return true;
    case cancels::loop:
    case cancels::sections:
      (void)t.cancel_kind.compare_exchange_strong(none, static_cast<int>(what));
      t.loop_cancelled.store(true);
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
    case cancels::sections: return t.loop_cancelled.load();
    case cancels::taskgroup: return group_cancelled(*self.running);
    case cancels::nothing: break;
  }
  return false;
}

}  // namespace heddle::omp

// The mark of an iteration: a program's call, which goes to a policy that uses iterations.
#include <heddle/iteration.hpp>

#include "worker/inline.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"

namespace heddle {

void next_iteration(const void* label) noexcept {
  if (worker::caller::now().is_foreign()) return;
  if (label == nullptr) label = __builtin_return_address(0);
  const worker::section inside;
  worker::worker& w = worker::worker::current();
  if (!w.home.host().scheduler_policy().wants().iterations) return;
  const policy::placement where =
      w.home.host().scheduler_policy().next_iteration(w.rank, w.current_thread()->scheduling, label);
  if (where == policy::placement::send) w.home.host().place_running();
}

}  // namespace heddle

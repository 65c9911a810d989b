// The communication between tasks: a program's call, which goes to a policy that derives from hears_communication.
#include <heddle/communication.hpp>

#include "worker/inline.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"

namespace heddle {

void communicates(unsigned to, double messages) noexcept {
  if (!(messages >= 0) || worker::caller::now().is_foreign()) return;
  const worker::section inside;
  worker::worker& w = worker::worker::current();
  auto* const hears = dynamic_cast<policy::hears_communication*>(&w.home.host().scheduler_policy());
  if (hears != nullptr) hears->communicates(w.rank, w.current_thread()->scheduling, to, messages);
}

}  // namespace heddle

// The stack on which a caller of any kind is. The C library is asked about it.
#include <cstddef>

#include "fiber/stack_pool.hpp"
#include "platform/platform.hpp"
#include "worker/carriers/carrier.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/stack_in_use.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

bool find_stack_in_use(const void* address, platform::stack_range& found) noexcept {
  const section inside;
  runtime* home = nullptr;
  if (const worker* const w = worker::current_or_null(); w != nullptr) {
    home = &w->home;
  } else if (const void* const blocked = detail::foreign_slots()[detail::thread_slots]; blocked != nullptr) {
    home = &static_cast<const carrier*>(blocked)->home;  // in a blocking call: [slot:5]
  }
  if (home == nullptr) return false;
  const fiber::thread* const on = home->stacks().whose_stack(address);
  if (on == nullptr) return false;
  const auto& memory = on->stack->stack_memory;
  found.low = memory.low;
  found.bytes = memory.bytes;
  return true;
}

}  // namespace heddle::worker

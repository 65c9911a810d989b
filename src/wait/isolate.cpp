#include <heddle/isolate.hpp>

#include "base/contracts.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

isolation begin_isolation() noexcept {
  const worker::section inside;
  worker::worker* w = worker::worker::current_or_null();
  return w == nullptr ? isolation{0, nullptr} : isolation{w->current_thread()->id, &w->home};
}

void end_isolation(const isolation& begun) noexcept {
  const isolation now = begin_isolation();
  HEDDLE_CHECK(now.thread == begun.thread && now.runtime == begun.runtime,
               "an isolated region was entered by thread %llu of runtime %p and left by thread %llu of runtime %p",
               static_cast<unsigned long long>(begun.thread), begun.runtime,
               static_cast<unsigned long long>(now.thread), now.runtime);
}

}  // namespace heddle::detail

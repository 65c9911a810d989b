#include "omp/ompt/records.hpp"

#include "omp/ompt/tasks.hpp"

namespace heddle::omp::ompt {

// Not inlined, so that the two words above its own frame's are the end of its caller's frame, which stays for the
// scope.
[[gnu::noinline]] inside::inside(thread& self) noexcept
    : of_(record_of(*self.running).frame), before_(of_.enter_frame), flags_before_(of_.enter_frame_flags) {
  if (before_.ptr != nullptr) return;
  of_.enter_frame.ptr = static_cast<void**>(__builtin_frame_address(0)) + 2;
  of_.enter_frame_flags = ompt_frame_runtime | ompt_frame_stackaddress;
}

outside::outside(thread& self, explicit_task& of, void* frame) : outside(of.tool, frame) {
  if (self.tool.on_top == nullptr || self.tool.on_top->it != &of) included_begins(self, of);
}

int usual_state(const thread& self) noexcept {
  return self.in->level > 0 ? ompt_state_work_parallel : ompt_state_work_serial;
}

}  // namespace heddle::omp::ompt

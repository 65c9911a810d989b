#include "omp/ompt/records.hpp"

#include "omp/ompt/tasks.hpp"

namespace heddle::omp::ompt {

// Not inlined, so that the two words above its own frame's are the end of its caller's, which stays for the scope.
[[gnu::noinline]] inside::inside(thread& self) noexcept
    : of_(record_of(*self.running).frame), before_(of_.enter_frame), flags_before_(of_.enter_frame_flags) {
  if (before_.ptr != nullptr) return;
  of_.enter_frame.ptr = static_cast<void**>(__builtin_frame_address(0)) + 2;
  of_.enter_frame_flags = ompt_frame_runtime | ompt_frame_stackaddress;
}

outside::outside(thread& self, explicit_task& of, void* frame) : outside(of.tool, frame) {
  if (self.tool.on_top == nullptr || self.tool.on_top->it != &of) included_begins(of);
}

void set_callers_frame(task_record& of, void* own) noexcept {
  constexpr std::uintptr_t most = std::uintptr_t{1} << 20;
  const auto mine = reinterpret_cast<std::uintptr_t>(own);
  const auto saved = *static_cast<std::uintptr_t*>(own);
  const bool is_frame = saved > mine && saved - mine < most && saved % 16 == 0;
  of.frame.exit_frame.ptr = is_frame ? reinterpret_cast<void*>(saved) : static_cast<void**>(own) + 2;
  of.frame.exit_frame_flags = ompt_frame_application | (is_frame ? ompt_frame_framepointer : ompt_frame_stackaddress);
}

int usual_state(const thread& self) noexcept {
  return self.in->level > 0 ? ompt_state_work_parallel : ompt_state_work_serial;
}

}  // namespace heddle::omp::ompt

#include "omp/ompt/work.hpp"

#include <utility>

#include "omp/ompt/callbacks.hpp"
#include "omp/ompt/records.hpp"

namespace heddle::omp::ompt {

ompt_work_t kind_of(const loop_plan& plan) noexcept {
  if (plan.sections) return ompt_work_sections;
  switch (plan.at_once ? schedule_kind::of_dynamic : plan.kind) {
    case schedule_kind::of_static: return ompt_work_loop_static;
    case schedule_kind::of_dynamic: return ompt_work_loop_dynamic;
    case schedule_kind::of_guided: return ompt_work_loop_guided;
    default: return ompt_work_loop_other;
  }
}

void work_begins(thread& self, ompt_work_t kind, std::uint64_t count, const void* code) {
  const inside here(self);
  tell<ompt_callback_work>(kind, ompt_scope_begin, region_of(self), data_of(*self.running), count, code);
}

void work_ends(thread& self, ompt_work_t kind, std::uint64_t count, const void* code) {
  const inside here(self);
  tell<ompt_callback_work>(kind, ompt_scope_end, region_of(self), data_of(*self.running), count, code);
}

void loop_begins(thread& self, const void* code) {
  end_gnu_single(self);
  const loop_plan& plan = self.work.plan;
  work_begins(self, kind_of(plan), plan.trips, code);
}

void block_begins(thread& self, const void* code) {
  const work_cursor& c = self.work;
  if (c.plan.sections) section_begins(self, code);
  else chunk_begins(self, ompt_dispatch_ws_loop_chunk, c.now.first, c.now.count);
}

void loop_ends(thread& self, const void* code) {
  if (self.work.in_loop) work_ends(self, kind_of(self.work.plan), self.work.plan.trips, code);
}

void chunk_begins(thread& self, ompt_dispatch_t kind, std::uint64_t first, std::uint64_t count) {
  ompt_dispatch_chunk_t chunk{first, count};
  ompt_data_t instance;
  instance.ptr = &chunk;
  const inside here(self);
  tell<ompt_callback_dispatch>(region_of(self), data_of(*self.running), kind, instance);
}

void section_begins(thread& self, const void* code) {
  ompt_data_t instance;
  instance.ptr = const_cast<void*>(code);
  const inside here(self);
  tell<ompt_callback_dispatch>(region_of(self), data_of(*self.running), ompt_dispatch_section, instance);
}

void single_begins(thread& self, bool executes, const void* code) {
  work_begins(self, executes ? ompt_work_single_executor : ompt_work_single_other, 1, code);
  if (!executes) work_ends(self, ompt_work_single_other, 1, code);
}

void single_ends(thread& self, const void* code) { work_ends(self, ompt_work_single_executor, 1, code); }

void gnu_single_begins(thread& self, bool executes, const void* code) {
  end_gnu_single(self);
  single_begins(self, executes, code);
  if (!executes) return;
  self.tool.in_gnu_single = true;
  self.tool.single_code = code;
}

void end_gnu_single(thread& self) {
  if (std::exchange(self.tool.in_gnu_single, false)) single_ends(self, self.tool.single_code);
}

void masked(thread& self, ompt_scope_endpoint_t endpoint, const void* code) {
  const inside here(self);
  tell<ompt_callback_masked>(endpoint, region_of(self), data_of(*self.running), code);
}

}  // namespace heddle::omp::ompt

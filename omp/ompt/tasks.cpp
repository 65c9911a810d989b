#include "omp/ompt/tasks.hpp"

#include <vector>

#include "omp/core/tasks/depend.hpp"
#include "omp/core/tasks/detach.hpp"
#include "omp/core/tasks/placing.hpp"
#include "omp/core/tasks/task_run.hpp"
#include "omp/ompt/callbacks.hpp"
#include "omp/ompt/recording.hpp"
#include "omp/ompt/records.hpp"

namespace heddle::omp::ompt {

namespace {

ompt_data_t* const nobody = nullptr;

void tell_dependences(ompt_data_t* of, const depend_list& list) {
  if (callback<ompt_callback_dependences>() == nullptr) return;
  std::vector<ompt_dependence_t> all(list.count);
  for (std::size_t i = 0; i < list.count; ++i) {
    const depend_item item = list[i];
    all[i].variable.ptr = const_cast<void*>(item.address);
    switch (item.kind) {
      case depend_kind::in: all[i].dependence_type = ompt_dependence_type_in; break;
      // The core knows one kind for out and inout, because they mean the same.
      case depend_kind::out: all[i].dependence_type = ompt_dependence_type_inout; break;
      case depend_kind::mutexinoutset: all[i].dependence_type = ompt_dependence_type_mutexinoutset; break;
      case depend_kind::inoutset: all[i].dependence_type = ompt_dependence_type_inoutset; break;
    }
    if (item.address == nullptr) all[i].dependence_type = ompt_dependence_type_out_all_memory;
  }
  tell<ompt_callback_dependences>(of, static_cast<const ompt_dependence_t*>(all.data()), static_cast<int>(list.count));
}

void tell_schedule(ompt_data_t* from, ompt_task_status_t why, ompt_data_t* to) {
  tell<ompt_callback_task_schedule>(from, why, to);
}

void tell_made(thread& self, ompt_data_t& of, int flags, const depend_list* list, const void* code) {
  task_record& parent = record_of(*self.running);
  tell<ompt_callback_task_create>(&parent.data, static_cast<const ompt_frame_t*>(&parent.frame), &of, flags,
                                  list != nullptr ? 1 : 0, code);
  if (list != nullptr) tell_dependences(&of, *list);
}

bool waits_for_event(const explicit_task& it) noexcept {
  // acquire as in body_ends: the thread that fulfils the event afterwards ends the task
  return it.detachable &&
         (it.event.load(std::memory_order_acquire) & (event_bits::fulfilled | event_bits::not_begun)) == 0;
}

// Called when the thread goes from the task to another one.
void tell_end(explicit_task& it, bool detached, task& to) {
  const ompt_task_status_t why = detached ? ompt_task_detach : is_cancelled(it) ? ompt_task_cancel : ompt_task_complete;
  tell_schedule(&it.tool.data, why, data_of(to));
}

std::uint32_t flags_in_recording(const explicit_task& it, bool awaited) noexcept {
  return (awaited ? recording::task_flags::awaited : 0) | (it.tied ? 0 : recording::task_flags::untied) |
         (it.is_final ? recording::task_flags::is_final : 0);
}

}  // namespace

int flags_of_explicit(const explicit_task& it) noexcept {
  int flags = ompt_task_explicit;
  if (it.undeferred) flags |= ompt_task_undeferred;
  if (!it.tied) flags |= ompt_task_untied;
  if (it.is_final) flags |= ompt_task_final;
  return flags;
}

void task_made(thread& self, explicit_task& it, bool undeferred, bool awaited, const depend_list* list,
               const void* code) {
  const inside here(self);
  it.tool = {};
  if (recording::on() || placing::on()) it.tool.frame.enter_frame.ptr = const_cast<void*>(code);  // until it begins
  it.undeferred = undeferred;
  it.plain = false;  // so that the end of it is told, if it runs where it is made
  recording::task_made(self, &it, flags_in_recording(it, awaited), list, code);
  tell_made(self, it.tool.data, flags_of_explicit(it), list, code);
}

void submit(thread& self, explicit_task& it, const depend_list* list, const void* code) {
  const inside here(self);
  // Of the tasks that run where they are made, only a final task's are awaited by their maker because the program says
  // so.
  task_made(self, it, runs_in_place(self, it), self.running->is_final, list, code);
  if (list != nullptr) heddle::omp::submit(self, it, *list);
  else heddle::omp::submit(self, it);
}

void run_undeferred(thread& self, explicit_task& it, const depend_list* list, const void* code) {
  const inside here(self);
  const bool enters = list != nullptr && it.detachable;
  if (list != nullptr && !enters) wait_for_predecessors(self, *list, code);
  task_made(self, it, true, true, enters ? list : nullptr, code);
  if (enters) wait_for_predecessors(self, it, *list);
  run_included(self, it);
}

void run_task(thread& self, member_tasks& mine, explicit_task& it) {
  task* const before = self.running;
  it.home = &mine;
  const bool discard = is_cancelled(it);
  if (discard) {
    self.running = &it;
    discarded(it);
    discard_body(self, it);
    self.running = before;
    end_task(self, mine, it);
    return;
  }
  running_task on_top{&it, before, self.tool.on_top};
  self.tool.on_top = &on_top;
  const bool yields = self.tool.yields;
  self.tool.yields = false;
  tell_schedule(data_of(*before), yields ? ompt_task_yield : ompt_task_switch, &it.tool.data);
  recording::task_begins(self, it);
  self.running = &it;
  {
    const in_state working(self, ompt_state_work_parallel);
    it.body(it, self, false);
  }
  recording::task_ends(self, it);
  self.running = before;
  self.tool.on_top = on_top.next;
  const bool detached = waits_for_event(it);
  tell_end(it, detached, *before);
  if (it.detachable) end_slow(self, mine, it, detached);
  else end_task(self, mine, it);
}

void included_begins(thread& self, explicit_task& it) {
  tell_schedule(data_of(*it.parent), ompt_task_switch, &it.tool.data);
  recording::task_begins(self, it);
}

bool included_ends(thread& self, explicit_task& it) {
  recording::task_ends(self, it);
  const bool detached = waits_for_event(it);
  tell_end(it, detached, *it.parent);
  return detached;
}

void fulfilled_early(ompt_data_t of) { tell_schedule(&of, ompt_task_early_fulfill, nobody); }
void fulfilled_late(explicit_task& it) { tell_schedule(&it.tool.data, ompt_task_late_fulfill, nobody); }

void wait_for_predecessors(thread& self, const depend_list& list, const void* code) {
  const inside here(self);
  const in_state waiting(self, ompt_state_wait_taskwait);
  ompt_data_t wait{};
  recording::task_made(self, &wait, recording::task_flags::awaited | recording::task_flags::only_waits, &list, code);
  recording::wait_begins(self, recording::wait::predecessors, &wait);
  tell_made(self, wait, ompt_task_taskwait | ompt_task_undeferred | ompt_task_mergeable, &list, code);
  heddle::omp::wait_for_predecessors(self, list);
  recording::wait_ends(self, recording::wait::predecessors, &wait);
  tell_schedule(&wait, ompt_taskwait_complete, nobody);
}

void found_predecessor(ompt_data_t before, explicit_task& after) {
  tell<ompt_callback_task_dependence>(&before, &after.tool.data);
}

void doacross(thread& self, const std::uint64_t* values, unsigned count, bool source) {
  if (callback<ompt_callback_dependences>() == nullptr) return;
  const inside here(self);
  std::vector<ompt_dependence_t> all(count);
  for (unsigned i = 0; i < count; ++i) {
    all[i].variable.value = values[i];
    all[i].dependence_type = source ? ompt_dependence_type_source : ompt_dependence_type_sink;
  }
  tell<ompt_callback_dependences>(data_of(*self.running), static_cast<const ompt_dependence_t*>(all.data()),
                                  static_cast<int>(count));
}

void taskloop_chunk(thread& self, std::uint64_t first, std::uint64_t count) {
  ompt_dispatch_chunk_t chunk{first, count};
  ompt_data_t instance;
  instance.ptr = &chunk;
  tell<ompt_callback_dispatch>(region_of(self), data_of(*self.running), ompt_dispatch_taskloop_chunk, instance);
}

void cancelled(thread& self, int what, const void* code) {
  const inside here(self);
  tell<ompt_callback_cancel>(data_of(*self.running), what, code);
}

void discarded(explicit_task& it) {
  const int what = it.group != nullptr && group_cancelled(it) ? ompt_cancel_taskgroup : ompt_cancel_parallel;
  tell<ompt_callback_cancel>(&it.tool.data, what | ompt_cancel_discarded_task, static_cast<const void*>(nullptr));
}

}  // namespace heddle::omp::ompt

// Entry points of the GNU ABI: tasks, taskwait, taskgroup.
#include <cstring>

#include "omp/core/tasks/detach.hpp"
#include "omp/core/tasks/task_told.hpp"
#include "omp/core/tasks/taskwait.hpp"
#include "omp/gomp/task_layout.hpp"
#include "omp/ompt/records.hpp"
#include "omp/ompt/sync.hpp"
#include "omp/ompt/tasks.hpp"

namespace heddle::omp {

namespace {

using namespace gomp;

// Of the team, or of the group that the new task would be in.
[[gnu::always_inline]] inline bool creation_cancelled(const thread& self) noexcept {
  return (self.running->group != nullptr && group_cancelled(*self.running)) ||
         self.in->cancelled.load(std::memory_order_relaxed);  // relaxed: cancellation may come late
}

}  // namespace

namespace {

// All of GOMP_task, whose arguments these are; `code` is its return address.
[[gnu::noinline]] void make_any_task(function fn, void* data, copy_function copy, long bytes, long align, bool if_value,
                                     unsigned flags, void** depend, int priority, void* detach, const void* code) {
  thread& self = thread::current();
  // The handle of an event must be usable, so such a task is made, and discarded later.
  if (creation_cancelled(self) && (flags & task_flags::detach) == 0) [[unlikely]]
    return;
  const bool told = ompt::on();
  const auto size = static_cast<std::size_t>(bytes);
  const auto alignment = static_cast<std::size_t>(align);
  explicit_task& it = make_task(self, alignment > alignof(explicit_task) ? size + alignment : size);
  set_body(it, fn, copy, alignment);
  if (flags != 0) [[unlikely]] {
    it.plain = false;
    it.tied = (flags & task_flags::untied) == 0;
    it.is_final = it.is_final || (flags & task_flags::is_final) != 0;
    if ((flags & task_flags::priority) != 0) it.priority = std::min(priority, largest_priority());
    if ((flags & task_flags::detach) != 0) {
      it.detachable = true;
      *static_cast<void**>(detach) = &it;
      if (data != nullptr) *static_cast<void**>(data) = &it;
    }
  }
  char* const argument = static_cast<char*>(it.payload) + it.abi_flags;
  if (copy != nullptr) copy(argument, data);
  else if (size != 0) std::memcpy(argument, data, size);
  const bool depends = (flags & task_flags::depend) != 0;
  if (told) [[unlikely]] {
    const depend_list list = depends ? list_of(depend) : depend_list();
    submit_told<run_body>(self, it, if_value, depends ? &list : nullptr, code);
  } else if (!if_value) {
    if (depends) wait_for_predecessors(self, it, list_of(depend));
    run_included(self, it);
  } else if (depends) {
    submit(self, it, list_of(depend));
  } else {
    submit(self, it);
  }
}

}  // namespace

// A plain task that runs where it is made has a path of its own, which uses few registers.
HEDDLE_OMP_ENTRY void GOMP_task(function fn, void* data, copy_function copy, long bytes, long align, bool if_value,
                                unsigned flags, void** depend, int priority, void* detach) {
  thread* const self = thread::current_or_null();
  if (self == nullptr || copy != nullptr || (flags & ~task_flags::untied) != 0 || (if_value && !runs_in_place(*self)) ||
      creation_cancelled(*self) || ompt::may_be_on())
    return make_any_task(fn, data, copy, bytes, align, if_value, flags, depend, priority, detach,
                         __builtin_return_address(0));
  // The caller's data are good until this call returns, and the compiler's code takes them for the task's own.
  explicit_task& it = make_task(*self, 0);
  begin_included(*self, it);
  fn(data);
  end_included(*self, it);
}

HEDDLE_OMP_ENTRY void GOMP_taskwait() { ompt::wait_for_tasks(thread::current(), __builtin_return_address(0)); }

HEDDLE_OMP_ENTRY void GOMP_taskwait_depend(void** depend) {
  thread& self = thread::current();
  if (ompt::on()) [[unlikely]]
    ompt::wait_for_predecessors(self, list_of(depend), __builtin_return_address(0));
  else wait_for_predecessors(self, list_of(depend));
}

HEDDLE_OMP_ENTRY void GOMP_taskwait_depend_nowait(void** depend) {
  thread& self = thread::current();
  explicit_task& it = make_task(self, 0);
  it.body = run_nothing;
  const depend_list list = list_of(depend);
  if (ompt::on()) [[unlikely]]
    submit_told<run_body>(self, it, true, &list, __builtin_return_address(0));
  else submit(self, it, list);
}

HEDDLE_OMP_ENTRY void GOMP_taskyield() { ompt::yield(thread::current()); }
HEDDLE_OMP_ENTRY void GOMP_taskgroup_start() { ompt::group_begins(thread::current(), __builtin_return_address(0)); }
HEDDLE_OMP_ENTRY void GOMP_taskgroup_end() { ompt::group_ends(thread::current(), __builtin_return_address(0)); }

}  // namespace heddle::omp

// In both ABIs omp_event_handle_t holds the address of the task.
HEDDLE_OMP_ENTRY void omp_fulfill_event(void* event) {
  heddle::omp::fulfil(*static_cast<heddle::omp::explicit_task*>(event));
}

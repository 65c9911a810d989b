// Entry points of the LLVM ABI: tasks, taskwait, taskgroup, events.
#include <cstring>
#include <utility>

#include "omp/core/tasks/detach.hpp"
#include "omp/core/tasks/task_told.hpp"
#include "omp/core/tasks/taskwait.hpp"
#include "omp/kmp/task_layout.hpp"
#include "omp/ompt/records.hpp"
#include "omp/ompt/sync.hpp"
#include "omp/ompt/tasks.hpp"

struct ident;

namespace heddle::omp {

namespace {

using namespace kmp;

// An untied task ends a part by submitting itself, and must be called again then. The word for that is in
// explicit_task::abi.
[[gnu::always_inline]] inline void run_parts(explicit_task& it, thread& self) {
  auto* const known = static_cast<known_task*>(it.payload);
  do {
    it.abi = 0;
    known->entry(self.global_number, known);
  } while (it.abi != 0);
}

[[gnu::always_inline]] inline void run_body(explicit_task& it, thread& self, bool discard) {
  auto* const known = static_cast<known_task*>(it.payload);
  if (!discard) [[likely]]
    run_parts(it, self);
  if ((it.abi_flags & task_flags::destructors) != 0) [[unlikely]]
    known->first.destructors(self.global_number, known);
}

// The task's code is its caller's, in the same frame; `frame` is the entry point's.
[[gnu::cold, gnu::noinline]] void begin_told(thread& self, explicit_task& it, const void* code, void* frame,
                                             ompt::callers_frame callers) {
  ompt_frame_t& parent = ompt::record_of(*self.running).frame;
  parent.enter_frame.ptr = frame;
  parent.enter_frame_flags = ompt_frame_runtime | ompt_frame_framepointer;
  ompt::task_made(self, it, true, true, nullptr, code);
  ompt::included_begins(self, it);
  begin_included(self, it);
  callers.set(it.tool);
}

[[gnu::always_inline]] inline void begin_here(void* task, const void* code, void* frame) {
  thread& self = thread::current();
  explicit_task& it = task_of(task);
  if (it.detachable) [[unlikely]]
    self.tasks.with_event = nullptr;
  if (ompt::on()) [[unlikely]]
    return begin_told(self, it, code, frame, ompt::callers_frame(frame));
  begin_included(self, it);
}

// Fills a block for the task with all that differs from one task to the next.
[[gnu::always_inline]] inline void* fill(explicit_task& it, std::int32_t flags, std::size_t front,
                                         std::size_t shared_bytes, routine entry) {
  auto* const known = static_cast<known_task*>(it.payload);
  known->shareds = shared_bytes != 0 ? static_cast<char*>(it.payload) + front : nullptr;
  known->entry = entry;
  known->part = 0;
  it.body = entry != nullptr ? run_body : run_nothing;
  it.abi = 0;
  it.abi_flags = static_cast<std::uint32_t>(flags);
  it.abi_word = reinterpret_cast<void*>(front + shared_bytes);  // the bytes that a taskloop copies
  if ((flags & (task_flags::tied | task_flags::is_final | task_flags::proxy)) != task_flags::tied) [[unlikely]] {
    it.tied = (flags & task_flags::tied) != 0;
    it.is_final = it.is_final || (flags & task_flags::is_final) != 0;
    it.plain = false;
    it.detachable = (flags & task_flags::proxy) != 0;
  }
  return it.payload;
}

std::size_t front_of(std::size_t task_bytes) noexcept { return (task_bytes + 7) & ~std::size_t{7}; }

[[gnu::noinline]] void* make_anew(std::int32_t flags, std::size_t task_bytes, std::size_t shared_bytes, routine entry) {
  const std::size_t front = front_of(task_bytes);
  return fill(make_task(thread::current(), front + shared_bytes), flags, front, shared_bytes, entry);
}

// Calls no function if a block is at hand, and therefore saves no registers.
[[gnu::always_inline]] inline void* make(std::int32_t flags, std::size_t task_bytes, std::size_t shared_bytes,
                                         routine entry) {
  thread* const self = thread::current_or_null();
  const std::size_t front = front_of(task_bytes);
  explicit_task* const it = self != nullptr ? make_of_spare(*self, front + shared_bytes) : nullptr;
  if (it == nullptr) [[unlikely]]
    return make_anew(flags, task_bytes, shared_bytes, entry);
  return fill(*it, flags, front, shared_bytes, entry);
}

// Reads what the compiler has written into a task since it was made.
inline void see_clauses(thread& self, explicit_task& it) noexcept {
  if ((it.abi_flags & (task_flags::priority | task_flags::detachable)) == 0) [[likely]]
    return;
  if (self.tasks.with_event == &it) self.tasks.with_event = nullptr;
  if ((it.abi_flags & task_flags::priority) == 0) return;
  const std::int32_t most = largest_priority();
  const std::int32_t asked = static_cast<known_task*>(it.payload)->second.priority;
  it.priority = asked < most ? asked : most;
  it.plain = false;
}

// The general case of submit. It is a path of its own so that the path of tasks which run where they are made uses few
// registers.
[[gnu::noinline]] std::int32_t submit_any(thread& self, explicit_task& it, const void* code) {
  if (self.running == &it) {  // the next part of an untied task
    it.abi = 1;
    return 0;
  }
  see_clauses(self, it);
  if (ompt::on()) [[unlikely]]
    submit_told<run_body>(self, it, true, nullptr, code);
  else submit(self, it);
  return 0;
}

depend_list list_of(std::int32_t count, const void* items) noexcept {
  return {static_cast<std::size_t>(count), item_of, items};
}

// A taskwait with a depend clause; or the wait of an undeferred task, whose body comes next. The calls are the same,
// and do not name the task. If the task has an event, that was announced just before.
void wait_here(thread& self, const depend_list& list, const void* code) {
  explicit_task* const known = std::exchange(self.tasks.with_event, nullptr);
  if (ompt::on()) [[unlikely]]
    ompt::wait_for_predecessors(self, list, code);
  if (known != nullptr) wait_for_predecessors(self, *known, list);
  else if (!ompt::on()) wait_for_predecessors(self, list);
}

}  // namespace

HEDDLE_OMP_ENTRY void* __kmpc_omp_task_alloc(ident*, std::int32_t, std::int32_t flags, std::size_t task_bytes,
                                             std::size_t shared_bytes, routine entry) {
  return make(flags, task_bytes, shared_bytes, entry);
}

HEDDLE_OMP_ENTRY void* __kmpc_omp_target_task_alloc(ident*, std::int32_t, std::int32_t flags, std::size_t task_bytes,
                                                    std::size_t shared_bytes, routine entry, std::int64_t) {
  return make(flags & ~static_cast<std::int32_t>(task_flags::tied), task_bytes, shared_bytes, entry);
}

HEDDLE_OMP_ENTRY std::int32_t __kmpc_omp_task(ident*, std::int32_t, void* task) {
  explicit_task& it = task_of(task);
  thread& self = *thread::current_or_null();  // the thread has made a task, so it has a descriptor
  if (self.running == &it || (it.abi_flags & (task_flags::priority | task_flags::detachable)) != 0 ||
      ompt::may_be_on() || !it.plain || !runs_in_place(self) || is_cancelled(it)) [[unlikely]]
    return submit_any(self, it, __builtin_return_address(0));
  begin_included(self, it);
  if (it.body == run_body) [[likely]]
    run_body(it, self, false);
  else it.body(it, self, false);
  end_included(self, it);
  return 0;
}

HEDDLE_OMP_ENTRY std::int32_t __kmpc_omp_task_parts(ident* where, std::int32_t number, void* task) {
  return __kmpc_omp_task(where, number, task);
}

HEDDLE_OMP_ENTRY std::int32_t __kmpc_omp_task_with_deps(ident*, std::int32_t, void* task, std::int32_t count,
                                                        void* items, std::int32_t, void*) {
  explicit_task& it = task_of(task);
  thread& self = thread::current();
  see_clauses(self, it);
  const depend_list list = list_of(count, items);
  if (ompt::on()) [[unlikely]]
    submit_told<run_body>(self, it, true, count != 0 ? &list : nullptr, __builtin_return_address(0));
  else if (count == 0) submit(self, it);
  else submit(self, it, list);
  return 0;
}

HEDDLE_OMP_ENTRY void __kmpc_omp_wait_deps(ident*, std::int32_t, std::int32_t count, void* items, std::int32_t, void*) {
  wait_here(thread::current(), list_of(count, items), __builtin_return_address(0));
}

HEDDLE_OMP_ENTRY void __kmpc_omp_taskwait_deps_51(ident*, std::int32_t, std::int32_t count, void* items, std::int32_t,
                                                  void*, std::int32_t nowait) {
  thread& self = thread::current();
  const depend_list list = list_of(count, items);
  if (nowait == 0) return wait_here(self, list, __builtin_return_address(0));
  explicit_task& it = make_task(self, 0);
  it.body = run_nothing;
  if (ompt::on()) [[unlikely]]
    submit_told<run_body>(self, it, true, &list, __builtin_return_address(0));
  else submit(self, it, list);
}

HEDDLE_OMP_ENTRY std::int32_t __kmpc_omp_taskwait(ident*, std::int32_t) {
  ompt::wait_for_tasks(thread::current(), __builtin_return_address(0));
  return 0;
}

HEDDLE_OMP_ENTRY std::int32_t __kmpc_omp_taskyield(ident*, std::int32_t, int) {
  ompt::yield(thread::current());
  return 0;
}

HEDDLE_OMP_ENTRY void __kmpc_omp_task_begin_if0(ident*, std::int32_t, void* task) {
  begin_here(task, __builtin_return_address(0), __builtin_frame_address(0));
}

HEDDLE_OMP_ENTRY void __kmpc_omp_task_complete_if0(ident*, std::int32_t, void* task) {
  explicit_task& it = task_of(task);
  thread& self = thread::current();
  if (it.abi != 0) run_parts(it, self);
  if ((it.abi_flags & task_flags::destructors) != 0) {
    auto* const known = static_cast<known_task*>(task);
    known->first.destructors(self.global_number, known);
  }
  end_included(self, it);
  if (ompt::on()) [[unlikely]]
    ompt::record_of(*self.running).frame.enter_frame.ptr = nullptr;
}

HEDDLE_OMP_ENTRY void __kmpc_omp_task_begin(ident*, std::int32_t, void* task) {
  begin_here(task, __builtin_return_address(0), __builtin_frame_address(0));
}

HEDDLE_OMP_ENTRY void __kmpc_omp_task_complete(ident*, std::int32_t, void* task) {
  end_included(thread::current(), task_of(task));
}

HEDDLE_OMP_ENTRY void __kmpc_taskgroup(ident*, std::int32_t) {
  ompt::group_begins(thread::current(), __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void __kmpc_end_taskgroup(ident*, std::int32_t) {
  ompt::group_ends(thread::current(), __builtin_return_address(0));
}

// A hint: the policy, if it places tasks, is told how many bytes the task touches.
HEDDLE_OMP_ENTRY std::int32_t __kmpc_omp_reg_task_with_affinity(ident*, std::int32_t, void* task, std::int32_t count,
                                                                void* items) {
  if (!placing::on()) return 0;
  std::size_t& bytes = placing::placed_of(task_of(task)).bytes;
  for (std::int32_t i = 0; i < count; ++i) bytes += static_cast<known_affinity*>(items)[i].length;
  return 0;
}

// For tools, while the task has not ended: its node in the graph, and those of its successors.
HEDDLE_OMP_ENTRY void* __kmpc_task_get_depnode(void* task) { return task_of(task).node; }
HEDDLE_OMP_ENTRY void* __kmpc_task_get_successors(void* task) { return successors_of(task_of(task)); }

// omp_event_handle_t holds the event's address.
HEDDLE_OMP_ENTRY void* __kmpc_task_allow_completion_event(ident*, std::int32_t, void* task) {
  explicit_task& it = task_of(task);
  it.detachable = true;
  it.plain = false;
  thread::current().tasks.with_event = &it;
  return &it;
}

HEDDLE_OMP_ENTRY void __kmpc_proxy_task_completed(std::int32_t, void* task) { fulfil(task_of(task)); }
HEDDLE_OMP_ENTRY void __kmpc_proxy_task_completed_ooo(void* task) { fulfil(task_of(task)); }

}  // namespace heddle::omp

// Entry points for tools (OpenMP 5.1, section 4.6.1). All but a few answer that there is nothing if no tool listens or
// if the thread is not OpenMP's.
#include "omp/ompt/inquiry.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "omp/api/api.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/tasks/task_queue.hpp"
#include "omp/ompt/callbacks.hpp"
#include "omp/ompt/records.hpp"
#include "omp/ompt/start.hpp"
#include "omp/ompt/tasks.hpp"

namespace heddle::omp::ompt {

namespace {

// An enumeration for functions that step through one.
struct named {
  int number;
  const char* name;
};

constexpr named states[] = {
#define HEDDLE_STATE(name) {ompt_state_##name, "ompt_state_" #name}
    HEDDLE_STATE(undefined),
    HEDDLE_STATE(work_serial),
    HEDDLE_STATE(work_parallel),
    HEDDLE_STATE(work_reduction),
    HEDDLE_STATE(wait_barrier_implicit_parallel),
    HEDDLE_STATE(wait_barrier_implicit_workshare),
    HEDDLE_STATE(wait_barrier_explicit),
    HEDDLE_STATE(wait_barrier_implementation),
    HEDDLE_STATE(wait_taskwait),
    HEDDLE_STATE(wait_taskgroup),
    HEDDLE_STATE(wait_lock),
    HEDDLE_STATE(wait_critical),
    HEDDLE_STATE(wait_atomic),
    HEDDLE_STATE(wait_ordered),
    HEDDLE_STATE(idle),
    HEDDLE_STATE(overhead),
#undef HEDDLE_STATE
};

// 0 is the number before the first one
constexpr named mutexes[] = {{0, "none"}, {1, "heddle: spins briefly, sleeps then"}};

template <std::size_t N>
int step(const named (&all)[N], int current, int* next, const char** name) noexcept {
  for (std::size_t i = 0; i + 1 < N; ++i) {
    if (all[i].number != current) continue;
    *next = all[i + 1].number;
    *name = all[i + 1].name;
    return 1;
  }
  return 0;
}

int enumerate_states(int current, int* next, const char** name) { return step(states, current, next, name); }
int enumerate_mutex_impls(int current, int* next, const char** name) { return step(mutexes, current, next, name); }

// Returns null if nothing can be said.
thread* asking() noexcept { return tool_is.load() == attached::yes ? thread::current_or_null() : nullptr; }

ompt_data_t* get_thread_data() {
  thread* const self = asking();
  return self != nullptr ? &self->tool.data : nullptr;
}

int get_state(ompt_wait_id_t* what) {
  const thread* const self = asking();
  if (self == nullptr) return ompt_state_work_serial;
  if (what != nullptr) *what = self->tool.waits_for;
  return self->tool.state;
}

int get_parallel_info(int level, ompt_data_t** data, int* size) {
  thread* const self = asking();
  if (self == nullptr || level < 0) return 0;
  team* t = self->in;
  for (; t != nullptr && level > 0; --level) t = t->outer;
  if (t == nullptr) return 0;
  if (data != nullptr) *data = &t->tool.data;
  if (size != nullptr) *size = static_cast<int>(t->size);
  return 2;
}

// The task below `it`, on top of which its thread runs it.
task* below(task& it) noexcept {
  if (it.is_explicit && it.home != nullptr) {
    for (const running_task* r = it.home->owner->tool.on_top; r != nullptr; r = r->next)
      if (r->it == &it) return r->under;
  }
  return it.parent;
}

int flags_of(const task& it) noexcept {
  if (it.is_explicit) return flags_of_explicit(static_cast<const explicit_task&>(it));
  const team& t = *it.in;
  if (t.tool.flags == 0 || is_league(t.tool)) return ompt_task_initial;
  return t.size == 1 ? ompt_task_implicit | ompt_task_undeferred : ompt_task_implicit;
}

int get_task_info(int level, int* flags, ompt_data_t** data, ompt_frame_t** frame, ompt_data_t** region, int* number) {
  thread* const self = asking();
  if (self == nullptr || level < 0) return 0;
  task* it = self->running;
  unsigned at = self->number;
  for (; it != nullptr && level > 0; --level) {
    if (!it->is_explicit) at = it->in->outer_number;
    it = below(*it);
  }
  if (it == nullptr) return 0;
  task_record& r = record_of(*it);
  if (flags != nullptr) *flags = flags_of(*it);
  if (data != nullptr) *data = &r.data;
  if (frame != nullptr) *frame = &r.frame;
  if (region != nullptr) *region = &it->in->tool.data;
  // The member of a league's region that runs an initial task does not count as one of a team.
  if (number != nullptr) *number = is_league(it->in->tool) ? 0 : static_cast<int>(at);
  return 2;
}

int get_task_memory(void** address, std::size_t* size, int block) {
  thread* const self = asking();
  if (address != nullptr) *address = nullptr;
  if (size != nullptr) *size = 0;
  if (self == nullptr || block != 0 || !self->running->is_explicit) return 0;
  const auto& it = static_cast<explicit_task&>(*self->running);
  if (it.own_payload) return 0;  // its size is not known
  if (address != nullptr) *address = it.payload;
  if (size != nullptr) *size = block_sizes[it.block_class] - sizeof(explicit_task);
  return 0;  // there is no other
}

std::uint64_t get_unique_id() {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: a number and no more
}

void finalize_tool() { finish(); }

int get_num_procs() { return process_environment().processors; }
int get_num_places() { return omp_get_num_places(); }
int get_place_proc_ids(int place, int size, int* ids) {
  const int count = omp_get_place_num_procs(place);
  if (ids != nullptr && size >= count) omp_get_place_proc_ids(place, ids);
  return count;
}
int get_place_num() { return asking() != nullptr ? omp_get_place_num() : -1; }
int get_partition_place_nums(int size, int* places) {
  if (asking() == nullptr) return 0;
  const int count = omp_get_partition_num_places();
  if (places != nullptr && size >= count) omp_get_partition_place_nums(places);
  return count;
}
int get_proc_id() { return asking() != nullptr ? sched_getcpu() : -1; }

int get_target_info(std::uint64_t*, ompt_id_t*, ompt_id_t*) { return 0; }
int get_num_devices() { return 1; }  // the host

int get_callback_if_on(ompt_callbacks_t event, ompt_callback_t* call) {
  return tool_is.load() == attached::no ? 0 : get_callback(event, call);
}

struct function {
  const char* name;
  ompt_interface_fn_t it;
};
template <class Type>
ompt_interface_fn_t as_any(Type it) noexcept {
  return reinterpret_cast<ompt_interface_fn_t>(it);
}
const function functions[] = {
#define HEDDLE_FUNCTION(name, it) {"ompt_" #name, as_any<ompt_##name##_t>(it)}
    HEDDLE_FUNCTION(enumerate_states, enumerate_states),
    HEDDLE_FUNCTION(enumerate_mutex_impls, enumerate_mutex_impls),
    HEDDLE_FUNCTION(set_callback, set_callback),
    HEDDLE_FUNCTION(get_callback, get_callback_if_on),
    HEDDLE_FUNCTION(get_state, get_state),
    HEDDLE_FUNCTION(get_parallel_info, get_parallel_info),
    HEDDLE_FUNCTION(get_task_info, get_task_info),
    HEDDLE_FUNCTION(get_task_memory, get_task_memory),
    HEDDLE_FUNCTION(get_thread_data, get_thread_data),
    HEDDLE_FUNCTION(get_unique_id, get_unique_id),
    HEDDLE_FUNCTION(finalize_tool, finalize_tool),
    HEDDLE_FUNCTION(get_num_procs, get_num_procs),
    HEDDLE_FUNCTION(get_num_places, get_num_places),
    HEDDLE_FUNCTION(get_place_proc_ids, get_place_proc_ids),
    HEDDLE_FUNCTION(get_place_num, get_place_num),
    HEDDLE_FUNCTION(get_partition_place_nums, get_partition_place_nums),
    HEDDLE_FUNCTION(get_proc_id, get_proc_id),
    HEDDLE_FUNCTION(get_target_info, get_target_info),
    HEDDLE_FUNCTION(get_num_devices, get_num_devices),
#undef HEDDLE_FUNCTION
};

}  // namespace

ompt_interface_fn_t lookup(const char* name) {
  for (const function& f : functions)
    if (std::strcmp(f.name, name) == 0) return f.it;
  return nullptr;
}

}  // namespace heddle::omp::ompt

// A tool (OMPT) that counts events and checks what it can by itself. The program asks for counts by omp_control_tool:
// the command says which, the argument is where the number goes.
#include <stdio.h>
#include <stdlib.h>

#include "../../../../omp/ompt/omp-tools.h"

#include "../tool_events.h"

static long long counts[tool_counts];
static int wrong;

#define COUNT(what) __atomic_fetch_add(&counts[what], 1, __ATOMIC_RELAXED)
#define EXPECT(condition)                                                           \
  do {                                                                              \
    if (!(condition) && __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED) < 5)        \
      fprintf(stderr, "tool: %s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
  } while (0)

static ompt_get_unique_id_t unique_id;
static ompt_get_thread_data_t thread_data;
static ompt_get_parallel_info_t parallel_info;
static ompt_get_task_info_t task_info;
static ompt_get_state_t state;

static void thread_begin(ompt_thread_t kind, ompt_data_t* data) {
  EXPECT(data->value == 0);
  EXPECT(thread_data() == data);
  data->value = unique_id();
  COUNT(kind == ompt_thread_initial ? initial_threads : worker_threads);
}
static void thread_end(ompt_data_t* data) {
  EXPECT(thread_data() == data);
  EXPECT(data->value != 0);
  COUNT(ended_threads);
}

static void parallel_begin(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* data, unsigned asked, int flags,
                           const void* code) {
  EXPECT(task->value != 0);
  EXPECT(frame->enter_frame.ptr != NULL);
  EXPECT(data->value == 0);
  EXPECT(asked >= 1);
  EXPECT(code != NULL);
  data->value = unique_id();
  const int is_league = ((unsigned)flags & ompt_parallel_league) != 0;
  EXPECT((((unsigned)flags & ompt_parallel_team) != 0) != is_league);
  COUNT(is_league ? leagues : regions);
}
static void parallel_end(ompt_data_t* data, ompt_data_t* task, int flags, const void* code) {
  EXPECT(data->value != 0 && task->value != 0 && flags != 0 && code != NULL);
  COUNT(((unsigned)flags & ompt_parallel_league) != 0 ? ended_leagues : ended_regions);
}

static void implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* data, unsigned size,
                          unsigned number, int flags) {
  int its_flags = 0, its_number = -1, its_size = 0;
  ompt_data_t *its_data = NULL, *its_region = NULL, *same_region = NULL;
  ompt_frame_t* frame = NULL;
  EXPECT(task_info(0, &its_flags, &its_data, &frame, &its_region, &its_number) == 2);
  EXPECT(parallel_info(0, &same_region, &its_size) == 2);
  EXPECT(its_region == same_region);
  EXPECT(its_data == data);
  if (endpoint == ompt_scope_begin) {
    EXPECT(data->value == 0);
    data->value = unique_id();
    if (flags & ompt_task_initial) {
      EXPECT((its_flags & ompt_task_initial) && its_number == 0);
      COUNT(initial_tasks);
      return;
    }
    EXPECT(region->value != 0);
    EXPECT(its_region == region);
    EXPECT(its_number == (int)number && its_size == (int)size && number < size);
    EXPECT(its_flags & ompt_task_implicit);
    EXPECT(task_info(1, NULL, &its_data, NULL, NULL, NULL) == 2 && its_data->value != 0);
    EXPECT(state(NULL) == ompt_state_work_parallel);
    COUNT(implicit_tasks);
  } else {
    EXPECT(data->value != 0);
    EXPECT(region == NULL);
    COUNT((flags & ompt_task_initial) != 0 ? ended_initial_tasks : ended_implicit_tasks);
  }
}

static void sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task,
                        const void* code) {
  (void)region, (void)code;
  EXPECT(task->value != 0);
  const int begins = endpoint == ompt_scope_begin;
  switch (kind) {
    case ompt_sync_region_barrier_explicit:
    case ompt_sync_region_barrier_implicit_workshare: COUNT(begins ? barriers : ended_barriers); break;
    case ompt_sync_region_barrier_implicit_parallel: COUNT(begins ? joins : ended_joins); break;
    case ompt_sync_region_taskwait: COUNT(begins ? taskwaits : ended_taskwaits); break;
    case ompt_sync_region_taskgroup: COUNT(begins ? taskgroups : ended_taskgroups); break;
    default: break;
  }
}
static void sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* region,
                             ompt_data_t* task, const void* code) {
  (void)kind, (void)region, (void)code;
  EXPECT(task->value != 0);
  COUNT(endpoint == ompt_scope_begin ? waits : ended_waits);
}

static void reduction(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task,
                      const void* code) {
  EXPECT(kind == ompt_sync_region_reduction && region->value != 0 && task->value != 0 && code != NULL);
  COUNT(endpoint == ompt_scope_begin ? reductions : ended_reductions);
}

static void task_create(ompt_data_t* parent, const ompt_frame_t* frame, ompt_data_t* data, int flags, int depends,
                        const void* code) {
  EXPECT(parent->value != 0 && frame->enter_frame.ptr != NULL && data->value == 0 && code != NULL);
  EXPECT(flags & (ompt_task_explicit | ompt_task_taskwait));
  data->value = unique_id();
  COUNT(tasks);
  if (depends) COUNT(dependent_tasks);
}
static void task_schedule(ompt_data_t* from, ompt_task_status_t why, ompt_data_t* to) {
  EXPECT(from->value != 0);
  EXPECT(to == NULL || to->value != 0);
  if (why == ompt_task_switch || why == ompt_task_yield) COUNT(begun_tasks);
  if (why == ompt_task_complete || why == ompt_task_cancel) COUNT(ended_tasks);
  if (why == ompt_taskwait_complete) COUNT(ended_tasks), COUNT(begun_tasks);
}
static void dependences(ompt_data_t* task, const ompt_dependence_t* all, int count) {
  EXPECT(task->value != 0 && count > 0 && all[0].variable.ptr != NULL);
  COUNT(clauses);
}

static void work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* region, ompt_data_t* task,
                 uint64_t count, const void* code) {
  EXPECT(region != NULL && task->value != 0 && code != NULL);
  const int begins = endpoint == ompt_scope_begin;
  switch (kind) {
    case ompt_work_loop_dynamic:
      EXPECT(count == loop_trips);
      COUNT(begins ? loops : ended_loops);
      break;
    case ompt_work_single_executor: COUNT(begins ? singles : ended_singles); break;
    case ompt_work_single_other: COUNT(begins ? other_singles : ended_other_singles); break;
    case ompt_work_taskloop: COUNT(begins ? taskloops : ended_taskloops); break;
    default: break;
  }
}
static void dispatch(ompt_data_t* region, ompt_data_t* task, ompt_dispatch_t kind, ompt_data_t instance) {
  EXPECT(region != NULL && task->value != 0);
  const ompt_dispatch_chunk_t* chunk = (const ompt_dispatch_chunk_t*)instance.ptr;
  if (kind == ompt_dispatch_ws_loop_chunk)
    __atomic_fetch_add(&counts[iterations], (long long)chunk->iterations, __ATOMIC_RELAXED);
  if (kind == ompt_dispatch_taskloop_chunk)
    __atomic_fetch_add(&counts[taskloop_iterations], (long long)chunk->iterations, __ATOMIC_RELAXED);
}

static void mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t what, const void* code) {
  (void)hint, (void)impl;
  EXPECT(what != 0 && code != NULL);
  EXPECT(kind >= ompt_mutex_lock && kind <= ompt_mutex_ordered);
  COUNT(wanted_mutexes);
}
static void mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t what, const void* code) {
  EXPECT(what != 0 && code != NULL);
  COUNT(kind == ompt_mutex_critical ? criticals : kind == ompt_mutex_ordered ? ordereds : locks);
}
static void mutex_released(ompt_mutex_t kind, ompt_wait_id_t what, const void* code) {
  EXPECT(what != 0 && code != NULL && kind != ompt_mutex_test_lock);
  COUNT(released_mutexes);
}
static void nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t what, const void* code) {
  EXPECT(what != 0 && code != NULL);
  COUNT(endpoint == ompt_scope_begin ? nested_locks : ended_nested_locks);
}
static void lock_init(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t what, const void* code) {
  (void)kind, (void)hint, (void)impl, (void)what, (void)code;
  COUNT(made_locks);
}
static void lock_destroy(ompt_mutex_t kind, ompt_wait_id_t what, const void* code) {
  (void)kind, (void)what, (void)code;
  COUNT(destroyed_locks);
}

static int control_tool(uint64_t command, uint64_t modifier, void* argument, const void* code) {
  EXPECT(modifier == 7 && code != NULL);
  if (command < tool_command || command >= tool_command + tool_counts) return 1;
  *(long long*)argument = __atomic_load_n(&counts[command - tool_command], __ATOMIC_RELAXED);
  return 0;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t* own) {
  (void)device;
  own->value = 99;
  unique_id = (ompt_get_unique_id_t)lookup("ompt_get_unique_id");
  thread_data = (ompt_get_thread_data_t)lookup("ompt_get_thread_data");
  parallel_info = (ompt_get_parallel_info_t)lookup("ompt_get_parallel_info");
  task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
  state = (ompt_get_state_t)lookup("ompt_get_state");
  const ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  const ompt_get_callback_t get = (ompt_get_callback_t)lookup("ompt_get_callback");
  EXPECT(lookup("ompt_no_such_function") == NULL);
  EXPECT(set((ompt_callbacks_t)1000, (ompt_callback_t)work) == ompt_set_error);
  EXPECT(set(ompt_callback_target, NULL) == ompt_set_never);
#define ASK(event) EXPECT(set(ompt_callback_##event, (ompt_callback_t)event) >= ompt_set_sometimes)
  ASK(thread_begin);
  ASK(thread_end);
  ASK(parallel_begin);
  ASK(parallel_end);
  ASK(implicit_task);
  ASK(sync_region);
  ASK(sync_region_wait);
  ASK(reduction);
  ASK(task_create);
  ASK(task_schedule);
  ASK(dependences);
  ASK(work);
  ASK(dispatch);
  ASK(mutex_acquire);
  ASK(mutex_acquired);
  ASK(mutex_released);
  ASK(nest_lock);
  ASK(lock_init);
  ASK(lock_destroy);
  ASK(control_tool);
  ompt_callback_t found = NULL;
  EXPECT(get(ompt_callback_work, &found) == 1 && found == (ompt_callback_t)work);
  EXPECT(get(ompt_callback_flush, &found) == 0);
  return 1;
}

// Everything that began has ended, threads included.
static void finalize(ompt_data_t* own) {
  EXPECT(own->value == 99);
  EXPECT(counts[ended_threads] == counts[initial_threads] + counts[worker_threads]);
  EXPECT(counts[ended_implicit_tasks] == counts[implicit_tasks]);
  EXPECT(counts[ended_joins] == counts[joins]);
  EXPECT(counts[ended_waits] == counts[waits]);
  printf("tool: %s\n", wrong == 0 ? "right" : "wrong");
  fflush(stdout);
  if (wrong != 0) _Exit(1);
}

ompt_start_tool_result_t* ompt_start_tool(unsigned version, const char* runtime) {
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  EXPECT(version >= 202011 && runtime != NULL);
  return &result;
}

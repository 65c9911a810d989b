/* heddle from C: every kind of object once, results checked. */
#include <heddle/heddle.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

/* Fork-join: two halves at a time. */
struct fib {
  int n;
  long value;
};

static void fib(void* argument) {
  struct fib* f = argument;
  if (f->n < 2) {
    f->value = f->n;
    return;
  }
  struct fib a = {f->n - 1, 0}, b = {f->n - 2, 0};
  CHECK(heddle_invoke(fib, &a, fib, &b) == HEDDLE_OK);
  f->value = a.value + b.value;
}

/* A loop over a range, chunk by chunk. */
static void squares(int64_t low, int64_t high, void* argument) {
  long* values = argument;
  for (int64_t i = low; i < high; ++i) values[i] = (long)(i * i);
}

/* A bounded buffer between threads. */
struct buffer {
  heddle_mutex* mutex;
  heddle_condition* changed;
  int values[4], count;
  long sum;
};

static void* produce(void* argument) {
  struct buffer* b = argument;
  for (int i = 1; i <= 100; ++i) {
    heddle_mutex_lock(b->mutex);
    while (b->count == 4) heddle_condition_wait(b->changed, b->mutex);
    b->values[b->count++] = i;
    heddle_condition_notify_all(b->changed);
    heddle_mutex_unlock(b->mutex);
  }
  return NULL;
}

static void* consume(void* argument) {
  struct buffer* b = argument;
  for (int i = 0; i < 100; ++i) {
    heddle_mutex_lock(b->mutex);
    while (b->count == 0) heddle_condition_wait(b->changed, b->mutex);
    b->sum += b->values[--b->count];
    heddle_condition_notify_all(b->changed);
    heddle_mutex_unlock(b->mutex);
  }
  return &b->sum;
}

/* Children of a group that meet at a barrier. */
struct meeting {
  heddle_barrier* barrier;
  heddle_semaphore* arrived;
  heddle_latch* done;
};

static void meet(void* argument) {
  struct meeting* m = argument;
  heddle_semaphore_release(m->arrived, 1);
  CHECK(heddle_barrier_wait(m->barrier) == HEDDLE_OK);
  CHECK(heddle_barrier_wait(m->barrier) == HEDDLE_OK);
  CHECK(heddle_latch_count_down(m->done, 1) == HEDDLE_OK);
}

/* Two that wait for each other in loops, on one worker: only preemption makes them end. */
struct turns {
  atomic_int mine, others;
};

static void* answer(void* argument) {
  struct turns* t = argument;
  for (int i = 1; i <= 3; ++i) {
    while (atomic_load(&t->others) < i) continue;
    atomic_store(&t->mine, i);
  }
  return NULL;
}

static void* ask(void* argument) {
  struct turns* t = argument;
  for (int i = 1; i <= 3; ++i) {
    atomic_store(&t->others, i);
    while (atomic_load(&t->mine) < i) continue;
  }
  return NULL;
}

static void ask_and_answer(void* argument) {
  heddle_thread_options options = {0};
  options.preemption = *(heddle_preemption*)argument;
  options.priority = HEDDLE_PRIORITY_HIGH;
  struct turns t;
  atomic_init(&t.mine, 0);
  atomic_init(&t.others, 0);
  heddle_thread* threads[2];
  heddle_status status = heddle_thread_create(&threads[0], &options, answer, &t);
  if (status == HEDDLE_UNSUPPORTED) return; /* under ThreadSanitizer */
  CHECK(status == HEDDLE_OK);
  CHECK(heddle_thread_create(&threads[1], &options, ask, &t) == HEDDLE_OK);
  for (int i = 0; i < 2; ++i) CHECK(heddle_thread_join(threads[i], NULL) == HEDDLE_OK);
  CHECK(atomic_load(&t.mine) == 3);
}

static void note(void* argument) { atomic_fetch_add((atomic_int*)argument, 1); }

static void kinds(void* argument) {
  heddle_runtime* one = argument;
  heddle_preemption both[2] = {HEDDLE_PREEMPTION_SIGNAL_YIELD, HEDDLE_PREEMPTION_KLT_SWITCHING};
  for (int i = 0; i < 2; ++i) ask_and_answer(&both[i]);

  heddle_group* group;
  atomic_int calls;
  atomic_init(&calls, 0);
  CHECK(heddle_group_create(&group, 0, 0) == HEDDLE_OK);
  CHECK(heddle_group_set_preemption(group, HEDDLE_PREEMPTION_NONE, HEDDLE_TLS_DEFAULT) == HEDDLE_OK);
  CHECK(heddle_group_set_priority(group, HEDDLE_PRIORITY_LOW) == HEDDLE_OK);
  CHECK(heddle_group_set_priority(group, HEDDLE_PRIORITY_HIGHEST + 1) == HEDDLE_INVALID);
  for (int i = 0; i < 10; ++i) CHECK(heddle_group_run(group, note, &calls, 0) == HEDDLE_OK);
  CHECK(heddle_group_wait(group) == HEDDLE_OK);
  CHECK(atomic_load(&calls) == 10);
  CHECK(heddle_group_destroy(group) == HEDDLE_OK);
  CHECK(heddle_runtime_active_workers(one) == 1);
}

static void all_of_it(void* argument) {
  heddle_runtime* runtime = argument;
  CHECK(heddle_thread_id() != 0);
  CHECK(heddle_runtime_worker_rank(runtime) >= 0);

  struct fib f = {20, 0};
  fib(&f);
  CHECK(f.value == 6765);

  long values[1000] = {0};
  CHECK(heddle_for(0, 1000, 0, squares, values) == HEDDLE_OK);
  CHECK(heddle_for(0, 1000, 16, squares, values) == HEDDLE_OK);
  for (long i = 0; i < 1000; ++i) CHECK(values[i] == i * i);
  CHECK(heddle_for(5, 5, 0, squares, NULL) == HEDDLE_OK);

  struct buffer b = {0};
  CHECK(heddle_mutex_create(&b.mutex) == HEDDLE_OK);
  CHECK(heddle_condition_create(&b.changed) == HEDDLE_OK);
  heddle_thread *producer, *consumer;
  heddle_thread_options options = {0};
  options.stack_size = 65536;
  options.name = "producer";
  CHECK(heddle_thread_create(&producer, &options, produce, &b) == HEDDLE_OK);
  CHECK(heddle_thread_create(&consumer, NULL, consume, &b) == HEDDLE_OK);
  void* result = NULL;
  CHECK(heddle_thread_join(producer, NULL) == HEDDLE_OK);
  CHECK(heddle_thread_join(consumer, &result) == HEDDLE_OK);
  CHECK(result == &b.sum && b.sum == 5050);
  CHECK(heddle_mutex_try_lock(b.mutex) == HEDDLE_OK);
  CHECK(heddle_mutex_try_lock(b.mutex) == HEDDLE_BUSY);
  CHECK(heddle_mutex_try_lock_for(b.mutex, 1000) == HEDDLE_TIMED_OUT);
  CHECK(heddle_condition_wait_for(b.changed, b.mutex, 1000) == HEDDLE_TIMED_OUT);
  CHECK(heddle_mutex_unlock(b.mutex) == HEDDLE_OK);
  CHECK(heddle_condition_destroy(b.changed) == HEDDLE_OK);
  CHECK(heddle_mutex_destroy(b.mutex) == HEDDLE_OK);

  struct meeting m;
  heddle_group* group;
  CHECK(heddle_barrier_create(&m.barrier, 5) == HEDDLE_OK);
  CHECK(heddle_semaphore_create(&m.arrived, 0) == HEDDLE_OK);
  CHECK(heddle_latch_create(&m.done, 4) == HEDDLE_OK);
  CHECK(heddle_group_create(&group, 4, 0) == HEDDLE_OK);
  for (int i = 0; i < 4; ++i) CHECK(heddle_group_run(group, meet, &m, 1) == HEDDLE_OK);
  for (int i = 0; i < 4; ++i) CHECK(heddle_semaphore_acquire(m.arrived) == HEDDLE_OK);
  CHECK(heddle_semaphore_try_acquire(m.arrived) == HEDDLE_BUSY);
  CHECK(heddle_semaphore_try_acquire_for(m.arrived, 1000) == HEDDLE_TIMED_OUT);
  CHECK(heddle_latch_try_wait(m.done) == HEDDLE_BUSY);
  CHECK(heddle_barrier_wait(m.barrier) == HEDDLE_OK);
  CHECK(heddle_barrier_drop(m.barrier) == HEDDLE_OK);
  CHECK(heddle_latch_wait(m.done) == HEDDLE_OK);
  CHECK(heddle_group_wait(group) == HEDDLE_OK);
  CHECK(heddle_group_destroy(group) == HEDDLE_OK);
  CHECK(heddle_latch_destroy(m.done) == HEDDLE_OK);
  CHECK(heddle_semaphore_destroy(m.arrived) == HEDDLE_OK);
  CHECK(heddle_barrier_destroy(m.barrier) == HEDDLE_OK);

  heddle_yield();
  heddle_sleep(1000);
}

int main(void) {
  heddle_runtime_options options = {0};
  options.workers = 2;
  heddle_runtime* runtime;
  CHECK(heddle_runtime_create(&runtime, &options) == HEDDLE_OK);
  CHECK(heddle_runtime_workers(runtime) == 2);
  CHECK(heddle_runtime_run(runtime, all_of_it, runtime) == HEDDLE_OK);
  CHECK(heddle_runtime_active_workers(runtime) == 2);
  CHECK(heddle_runtime_set_active_workers(runtime, 3) == HEDDLE_INVALID);
  CHECK(heddle_runtime_set_active_workers(runtime, 1) == HEDDLE_OK);
  CHECK(heddle_runtime_run(runtime, kinds, runtime) == HEDDLE_OK);
  CHECK(heddle_runtime_set_active_workers(runtime, 2) == HEDDLE_OK);
  CHECK(heddle_runtime_run(runtime, all_of_it, runtime) == HEDDLE_OK);
  CHECK(heddle_runtime_destroy(runtime) == HEDDLE_OK);

  /* The global runtime, from a kernel thread that is not its own. */
  struct fib f = {15, 0};
  fib(&f);
  CHECK(f.value == 610);

  /* What cannot be is refused with a reason. */
  options.policy = "no such policy";
  CHECK(heddle_runtime_create(&runtime, &options) == HEDDLE_INVALID);
  CHECK(heddle_mutex_lock(NULL) == HEDDLE_INVALID);
  CHECK(strcmp(heddle_strerror(HEDDLE_OK), "success") == 0);
  for (int s = HEDDLE_OK; s <= HEDDLE_UNSUPPORTED; ++s) CHECK(heddle_strerror((heddle_status)s)[0] != 0);
  printf("heddle %s from C: fib(20), a loop, a buffer, a meeting: as they should be\n", heddle_version());
  return 0;
}

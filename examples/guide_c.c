/* The C interface: docs/guide/c_api.md. */
#include <heddle/heddle.h>

#include <stdio.h>

/* Fork and join. */
struct fib_job {
  int n;
  long result;
};
static void fib(void* argument) {
  struct fib_job* job = argument;
  job->result = job->n;
  if (job->n < 2) return;
  struct fib_job a = {job->n - 1, 0}, b = {job->n - 2, 0};
  heddle_status status = heddle_invoke(fib, &a, fib, &b);
  if (status != HEDDLE_OK) {
    fprintf(stderr, "fib: %s\n", heddle_strerror(status));
    return;
  }
  job->result = a.result + b.result;
}

/* A loop gets chunks. */
static void square(int64_t low, int64_t high, void* argument) {
  double* x = argument;
  for (int64_t i = low; i < high; ++i) x[i] *= x[i];
}

/* A group of children that wait for each other. */
struct meeting {
  heddle_barrier* all;
  heddle_mutex* guard;
  int arrived, seen;
};
static void meet(void* argument) {
  struct meeting* m = argument;
  heddle_mutex_lock(m->guard);
  ++m->arrived;
  heddle_mutex_unlock(m->guard);
  heddle_barrier_wait(m->all); /* frees the worker for the others */
  heddle_mutex_lock(m->guard);
  m->seen += m->arrived;
  heddle_mutex_unlock(m->guard);
}
static void hold_meeting(void* argument) {
  struct meeting* m = argument;
  heddle_group* group;
  if (heddle_group_create(&group, 0, 0) != HEDDLE_OK) return;
  for (int i = 0; i < 10; ++i) {
    if (heddle_group_run(group, meet, m, 0) != HEDDLE_OK) heddle_barrier_drop(m->all);
  }
  heddle_group_wait(group);
  heddle_group_destroy(group);
}

/* Work for workers that have nothing better, and that goes when they have. */
static void* count_down(void* argument) {
  long* left = argument;
  while (*left > 0) --*left;
  return argument;
}
static heddle_status start_in_the_background(heddle_thread** out, long* left) {
  heddle_thread_options options = {
      .priority = HEDDLE_PRIORITY_LOW, .preemption = HEDDLE_PREEMPTION_KLT_SWITCHING, .name = "count_down"};
  heddle_status status = heddle_thread_create(out, &options, count_down, left);
  if (status != HEDDLE_UNSUPPORTED) return status;
  options.preemption = HEDDLE_PREEMPTION_NONE;
  return heddle_thread_create(out, &options, count_down, left);
}

/* A thread with a result. */
static void* increment(void* argument) { return (int*)argument + 1; }

int main(void) {
  struct fib_job job = {20, 0};
  fib(&job); /* from any thread: the global runtime does it */

  double x[1000];
  for (int i = 0; i < 1000; ++i) x[i] = i;
  if (heddle_for(0, 1000, 0, square, x) != HEDDLE_OK) return 1;

  heddle_runtime* two;
  heddle_runtime_options options = {.workers = 2};
  if (heddle_runtime_create(&two, &options) != HEDDLE_OK) return 1;
  struct meeting m = {0};
  if (heddle_barrier_create(&m.all, 10) != HEDDLE_OK || heddle_mutex_create(&m.guard) != HEDDLE_OK) return 1;
  heddle_runtime_run(two, hold_meeting, &m); /* what is made there stays on its two workers */
  heddle_mutex_destroy(m.guard);
  heddle_barrier_destroy(m.all);
  heddle_runtime_destroy(two);

  int numbers[2] = {0, 7};
  heddle_thread* thread;
  void* result = NULL;
  if (heddle_thread_create(&thread, NULL, increment, numbers) != HEDDLE_OK) return 1;
  heddle_thread_join(thread, &result);

  long left = 1000000;
  if (start_in_the_background(&thread, &left) != HEDDLE_OK) return 1;
  heddle_thread_join(thread, NULL);

  int good = left == 0 && job.result == 6765 && x[30] == 900 && m.seen == 100 && *(int*)result == 7;
  puts(good ? "ok" : "wrong");
  return good ? 0 : 1;
}

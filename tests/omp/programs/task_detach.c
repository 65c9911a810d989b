// detach: a task is complete when its event is fulfilled, by itself, by another task, or by a thread of the program's
// own.
#include <pthread.h>
#include <sched.h>

#include "check.h"

static omp_event_handle_t handed;
static int ready, flag;

static void* fulfill(void* unused) {
  while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) sched_yield();
  check_work(20000);
  __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
  omp_fulfill_event(handed);
  return unused;
}

int main(void) {
  for (int round = 0; round < 10; ++round) {
    int x = 0, order = 0;
#pragma omp parallel
#pragma omp single
    {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(x)
      {
#pragma omp atomic
        x += 1;
      }
#pragma omp task firstprivate(event) shared(x)
      {
        check_work(2000);
#pragma omp atomic
        x += 10;
        omp_fulfill_event(event);
      }
#pragma omp taskwait
      CHECK_EQUAL(x, 11);

      omp_event_handle_t own;
#pragma omp task detach(own)
      omp_fulfill_event(own);
#pragma omp taskwait

      omp_event_handle_t first;
#pragma omp task detach(first) depend(out : order) shared(order)
      check_work(10);
#pragma omp task depend(in : order) shared(order)
      CHECK_EQUAL(order, 5);
#pragma omp task firstprivate(first) shared(order)
      {
        check_work(1000);
        order = 5;
        omp_fulfill_event(first);
      }
    }
    ready = flag = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, fulfill, NULL);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
      omp_event_handle_t event;
#pragma omp taskgroup
      {
#pragma omp task detach(event)
        check_work(10);
        handed = event;
        __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
      }
      CHECK_EQUAL(__atomic_load_n(&flag, __ATOMIC_ACQUIRE), 1);
    }
    pthread_join(thread, NULL);
  }
  return FINISHED();
}

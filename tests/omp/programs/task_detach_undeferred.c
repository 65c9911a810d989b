// detach with if(0): the maker goes on when the body is over, and may fulfil the event itself; who waits for tasks
// waits for the event.
// oracle: not libgomp: its maker waits for the event
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

// Fulfils the event of each task after it has come back from it: at once, or when it has made others.
static void by_the_maker(void) {
  int done = 0, children = 0;
#pragma omp taskgroup
  {
    omp_event_handle_t events[16];
    for (int i = 0; i < 16; ++i) {
      omp_event_handle_t event;
#pragma omp task detach(event) if (0) shared(done, children)
      {
        done += 1;
#pragma omp task shared(children)
        {
          check_work(100);
#pragma omp atomic
          children += 1;
        }
      }
      CHECK_EQUAL(done, i + 1);
      events[i] = event;
      if (i % 2 != 0) omp_fulfill_event(events[i]);
    }
    for (int i = 0; i < 16; i += 2) omp_fulfill_event(events[i]);
#pragma omp taskwait
    omp_event_handle_t event;
#pragma omp task detach(event) if (0)
    omp_fulfill_event(event);
  }
  CHECK_EQUAL(children, 16);
}

int main(void) {
  by_the_maker();
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel
    by_the_maker();

    // The group waits for an event that somebody else fulfils; so does the region's end.
    for (int grouped = 0; grouped < 2; ++grouped) {
      ready = flag = 0;
      pthread_t thread;
      pthread_create(&thread, NULL, fulfill, NULL);
#pragma omp parallel num_threads(1 + round % 3)
#pragma omp single nowait
      {
        if (grouped) {
#pragma omp taskgroup
          {
            omp_event_handle_t event;
#pragma omp task detach(event) if (0)
            check_work(10);
            handed = event;
            __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
          }
          CHECK_EQUAL(__atomic_load_n(&flag, __ATOMIC_ACQUIRE), 1);
        } else {
          omp_event_handle_t event;
#pragma omp task detach(event) if (0)
          check_work(10);
          handed = event;
          __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
        }
      }
      CHECK_EQUAL(__atomic_load_n(&flag, __ATOMIC_ACQUIRE), 1);
      pthread_join(thread, NULL);
    }
  }
  return FINISHED();
}

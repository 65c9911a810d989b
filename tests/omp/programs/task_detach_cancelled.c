// A task with an event that is cancelled before it begins: the group ends without the event, which may be fulfilled at
// any later time.
// env: OMP_CANCELLATION=true
// oracle: not libgomp: its task's memory is gone when the event is fulfilled
// oracle: not libomp: it waits for the event
#include "check.h"

enum { EVENTS = 16 };
static omp_event_handle_t events[EVENTS];

int main(void) {
  for (int round = 0; round < 20; ++round) {
    int begun = 0, others = 0;
#pragma omp parallel num_threads(1 + round % 4) shared(begun, others)
#pragma omp single
    {
#pragma omp taskgroup
      {
#pragma omp task
        {
#pragma omp cancel taskgroup
        }
#pragma omp taskwait
        for (int i = 0; i < EVENTS; ++i) {
          omp_event_handle_t event;
#pragma omp task detach(event) shared(begun)
          {
#pragma omp atomic
            begun += 1;
          }
          events[i] = event;
        }
      }
      for (int i = 0; i < 200; ++i) {
#pragma omp task shared(others)
        {
#pragma omp atomic
          others += 1;
        }
      }
      for (int i = 0; i < EVENTS; ++i) omp_fulfill_event(events[i]);
#pragma omp taskwait
      CHECK_EQUAL(others, 200);
    }
    CHECK_EQUAL(begun, 0);
  }
  return FINISHED();
}

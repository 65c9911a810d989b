// cancel of loops, sections, regions and taskgroups.
// env: OMP_CANCELLATION=true
// oracle: not libomp: who leaves a barrier late takes what was cancelled behind it for what it waited for, and hangs
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  CHECK(omp_get_cancellation());
  for (int round = 0; round < 20; ++round) {
    int after = 0, sum = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 100000; ++i) {
        if (i == 20) {
#pragma omp cancel for
        }
#pragma omp cancellation point for
        if (i > 90000) {
#pragma omp atomic
          ++after;
        }
      }
      // The team is whole again.
#pragma omp for reduction(+ : sum)
      for (int i = 0; i < 100; ++i) sum += i;
    }
    CHECK_EQUAL(after, 0);
    CHECK_EQUAL(sum, 4950);

    int reached = 0;
#pragma omp parallel num_threads(4)
    {
      if (omp_get_thread_num() == 2) {
#pragma omp cancel parallel
      }
      for (;;) {
#pragma omp cancellation point parallel
        check_work(100);
      }
      ++reached;
    }
    CHECK_EQUAL(reached, 0);

    int beyond = 0;
#pragma omp parallel num_threads(4)
    {
      if (omp_get_thread_num() == 1) {
#pragma omp cancel parallel
      }
#pragma omp barrier
#pragma omp atomic
      ++beyond;
    }
    CHECK_EQUAL(beyond, 0);

    // A thread that leaves the first barrier late is not told of a cancellation behind it.
    int between = 0;
    beyond = 0;
#pragma omp parallel num_threads(7)
    {
#pragma omp barrier
      if (omp_get_thread_num() == 3) {
#pragma omp cancel parallel
      }
#pragma omp atomic
      ++between;
#pragma omp barrier
#pragma omp atomic
      ++beyond;
    }
    CHECK(between <= 6);
    CHECK_EQUAL(beyond, 0);

    // A loop that is cancelled is left, and not the region, though that may be cancelled, too.
    int whole = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 100; ++i) {
        if (i == 10) {
#pragma omp cancel for
        }
      }
#pragma omp atomic
      ++whole;
      if (round > 1000) {
#pragma omp cancel parallel
      }
#pragma omp barrier
#pragma omp atomic
      ++whole;
    }
    CHECK_EQUAL(whole, 8);

    int section = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp sections
      {
#pragma omp section
        {
#pragma omp cancel sections
          section += 1;
        }
#pragma omp section
        {
#pragma omp cancel sections
          section += 1;
        }
      }
    }
    CHECK_EQUAL(section, 0);

    int begun = 0, complete = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
#pragma omp taskgroup
      {
        for (int i = 0; i < 1000; ++i) {
#pragma omp task shared(begun, complete) firstprivate(i)
          {
#pragma omp atomic
            ++begun;
            if (i == 3) {
#pragma omp cancel taskgroup
            }
#pragma omp cancellation point taskgroup
            check_work(50);
#pragma omp atomic
            ++complete;
          }
        }
      }
      CHECK(complete < begun);
      int other = 0;
#pragma omp task shared(other)
      other = 1;
#pragma omp taskwait
      CHECK_EQUAL(other, 1);
    }
  }
  return FINISHED();
}

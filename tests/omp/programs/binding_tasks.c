// Tasks in teams whose members are bound, and are replaced by others when the next region binds them elsewhere: who
// ends a task wakes the member that made it, not one that has had its number before.
// env: OMP_PROC_BIND=spread,close OMP_PLACES=threads OMP_MAX_ACTIVE_LEVELS=2
#include "check.h"

static void make_tasks(int tasks) {
  int done = 0;
  for (int i = 0; i < tasks; ++i) {
#pragma omp task shared(done)
    {
      check_work(50);
#pragma omp atomic
      done += 1;
    }
  }
#pragma omp taskwait
  CHECK_EQUAL(done, tasks);
}

int main(void) {
  static const int sizes[] = {2, 7, 3, 8, 5, 4, 11, 6};
  omp_set_dynamic(0);
  for (int round = 0; round < 40; ++round) {
    const int members = sizes[round % 8];
#pragma omp parallel num_threads(members)
    {
      make_tasks(40);
#pragma omp parallel num_threads(2 + (omp_get_thread_num() + round) % 3)
      make_tasks(10);
#pragma omp barrier
      make_tasks(40);
    }
  }
  return FINISHED();
}

// Teams that are kept, and are now a gang and now none, large and small, with tasks and barriers of OpenMP's inside.
// env: HEDDLE_OMP_TEAMS=gang HEDDLE_WORKERS=3 OMP_MAX_ACTIVE_LEVELS=3
#include "check.h"
#include "meet.h"

static int region(int size) {
  struct meeting at = {0, 0};
  int members = 0, tasks = 0;
#pragma omp parallel num_threads(size) shared(at, members, tasks)
  {
    const int n = omp_get_num_threads();
    meet(&at, n);
#pragma omp task
#pragma omp atomic
    ++tasks;
#pragma omp barrier
    CHECK_EQUAL(tasks, n);
#pragma omp atomic
    ++members;
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < 4; ++i) {
#pragma omp task
#pragma omp atomic
      ++tasks;
    }
    CHECK_EQUAL(tasks, n + 4);
#pragma omp for schedule(dynamic, 1) nowait
    for (int i = 0; i < 8; ++i) check_work(100);
    meet(&at, n);
  }
  return members;
}

int main(void) {
  static const int sizes[] = {2, 3, 5, 1, 8, 2, 4};
  for (int i = 0; i < 7; ++i) CHECK_EQUAL(region(sizes[i]), sizes[i]);
#pragma omp parallel num_threads(3)
  for (int i = 0; i < 7; ++i) {
    const int size = sizes[(i + omp_get_thread_num()) % 7];
    CHECK_EQUAL(region(size), size);
    if (i == 3) {
#pragma omp parallel num_threads(2)
      CHECK_EQUAL(region(2), 2);
    }
  }
  for (int i = 0; i < 7; ++i) CHECK_EQUAL(region(sizes[i]), sizes[i]);
  return FINISHED();
}

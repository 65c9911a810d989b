// Loops of many tasks, of which threads take halves from each other: each iteration once, each task with data of its
// own, and a taskwait that waits for all where there is no group.
#include "check.h"

enum { SIZE = 20000, OUTER = 40, INNER = 300 };
static int seen[SIZE];
static int cells[OUTER][INNER];

static void work(int amount) {
  for (volatile int i = 0; i < amount; ++i) {
  }
}

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int turn = 1; turn <= 20; ++turn) {
      int own = 7;
      int wrong = 0;
#pragma omp taskloop nogroup grainsize(1) firstprivate(own) shared(wrong)
      for (int i = 0; i < SIZE; ++i) {
        if (own != 7) {
#pragma omp atomic
          ++wrong;
        }
        own = i;
        if (i % 1000 == 0) work(3000);
        ++seen[i];
      }
#pragma omp taskwait
      int missing = 0;
      for (int i = 0; i < SIZE; ++i) missing += seen[i] != turn;
      CHECK_EQUAL(missing, 0);
      CHECK_EQUAL(wrong, 0);
    }
    // Loops inside a loop's tasks, uneven ones, and tasks that wait.
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < OUTER; ++i) {
#pragma omp taskloop num_tasks(100) nogroup
      for (int j = 0; j < INNER; ++j) {
#pragma omp task
        {
          work(i == 0 ? 2000 : 10);
          ++cells[i][j];
        }
#pragma omp taskwait
        ++cells[i][j];
      }
#pragma omp taskwait
      for (int j = 0; j < INNER; ++j) CHECK_EQUAL(cells[i][j], 2);
    }
    // Down, and with a step, in unsigned numbers, too.
#pragma omp taskloop grainsize(1)
    for (int i = SIZE - 1; i > 100; i -= 3) seen[i] = -1;
#pragma omp taskloop grainsize(2)
    for (unsigned i = 0; i < 100; i += 7) seen[i] = -1;
  }
  int wrong = 0;
  for (int i = 0; i < SIZE; ++i) {
    const int struck = i > 100 ? (SIZE - 1 - i) % 3 == 0 : i < 100 && i % 7 == 0;
    wrong += seen[i] != (struck ? -1 : 20);
  }
  CHECK_EQUAL(wrong, 0);
  return FINISHED();
}

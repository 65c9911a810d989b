// Tasks that run where they are made: in a region of one thread, in final tasks, without deferring. The tasks that they
// leave behind are waited for like those of any other task.
#include "check.h"

static int count;

static void tree(int depth) {
#pragma omp atomic
  count += 1;
  if (depth == 0) return;
#pragma omp task
  tree(depth - 1);
#pragma omp task if (0)
  tree(depth - 1);
#pragma omp task final(1)
  tree(depth - 1);
  if (depth % 3 == 0) {
#pragma omp taskwait
  }
}

int main(void) {
  for (int threads = 1; threads <= 4; ++threads) {
    for (int round = 0; round < 5; ++round) {
      count = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
      tree(7);
      CHECK_EQUAL(count, 3280);  // 1 + 3 + ... + 3^7
    }
    int sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskloop reduction(+ : sum)
    for (int i = 0; i < 1000; ++i) sum += i;
    CHECK_EQUAL(sum, 499500);
    // A private copy is the task's own, also where the maker's data serve.
    int kept = 5, seen = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(kept) shared(seen)
      {
        kept += i;
#pragma omp atomic
        seen += kept - i;
      }
    }
    CHECK_EQUAL(kept, 5);
    CHECK_EQUAL(seen, 500);
  }
  return FINISHED();
}

// Reductions in which tasks take part: of a taskgroup, of a region, of a loop and of a taskloop.
#include "check.h"

int main(void) {
  for (int round = 0; round < 10; ++round) {
    int sum = 3;
    long product = 1;
    int array[5] = {0};
#pragma omp parallel
    {
#pragma omp single
      {
#pragma omp taskgroup task_reduction(+ : sum, array) task_reduction(* : product)
        {
          for (int i = 0; i < 40; ++i) {
#pragma omp task in_reduction(+ : sum, array) in_reduction(* : product) firstprivate(i)
            {
              sum += i;
              array[i % 5] += 1;
              if (i % 8 == 0) product *= 2;
#pragma omp task in_reduction(+ : sum)
              sum += 1;
            }
          }
        }
        CHECK_EQUAL(sum, 3 + 780 + 40);
        CHECK_EQUAL(product, 32);
        for (int i = 0; i < 5; ++i) CHECK_EQUAL(array[i], 8);
      }
    }
    int region = 0;
#pragma omp parallel reduction(task, + : region)
    {
#pragma omp single
      for (int i = 0; i < 20; ++i) {
#pragma omp task in_reduction(+ : region)
        region += i;
      }
    }
    CHECK_EQUAL(region, 190);
    int loop = 0;
#pragma omp parallel
    {
#pragma omp for reduction(task, + : loop)
      for (int i = 0; i < 20; ++i) {
        loop += 1;
#pragma omp task in_reduction(+ : loop) firstprivate(i)
        loop += i;
      }
    }
    CHECK_EQUAL(loop, 210);
    long tasked = 0;
#pragma omp parallel
    {
#pragma omp single
#pragma omp taskloop reduction(+ : tasked) grainsize(7)
      for (int i = 0; i < 300; ++i) tasked += i;
    }
    CHECK_EQUAL(tasked, 44850);
    long within = 0;
#pragma omp parallel
    {
#pragma omp single
#pragma omp taskgroup task_reduction(+ : within)
      {
#pragma omp taskloop in_reduction(+ : within) num_tasks(9)
        for (int i = 0; i < 300; ++i) within += i;
      }
    }
    CHECK_EQUAL(within, 44850);
  }
  return FINISHED();
}

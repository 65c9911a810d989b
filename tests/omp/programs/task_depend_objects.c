// Dependences in objects (depobj), by iterators, and of parts of arrays.
#include "check.h"

int main(void) {
  enum { n = 20 };
  static int a[n], sum;  // gcc 12 loses automatic variables of tasks with iterators
  for (int round = 0; round < 10; ++round) {
    int x = 0;
    sum = 0;
    omp_depend_t object;
#pragma omp depobj(object) depend(inout : x)
#pragma omp parallel
#pragma omp single
    {
      for (int i = 0; i < n; ++i) {
#pragma omp task depend(out : a[i]) firstprivate(i)
        {
          check_work(300);
          a[i] = i;
        }
      }
#pragma omp task depend(iterator(k = 0 : n), in : a[k])
      for (int i = 0; i < n; ++i) sum += a[i];
#pragma omp task depend(iterator(k = n - 1 : 0 : -2), inout : a[k])
      {
        CHECK_EQUAL(sum, 190);
        a[n - 1] = 0;
      }
#pragma omp task depend(in : a[n - 1])
      CHECK_EQUAL(a[n - 1], 0);
      for (int i = 0; i < 10; ++i) {
#pragma omp task depend(depobj : object) firstprivate(i) shared(x)
        {
          CHECK_EQUAL(x, i);
          x = i + 1;
        }
      }
#pragma omp taskwait
#pragma omp depobj(object) update(in)
#pragma omp task depend(depobj : object) shared(x)
      CHECK_EQUAL(x, 10);
    }
#pragma omp depobj(object) destroy
  }
  return FINISHED();
}

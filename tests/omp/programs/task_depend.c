// depend(in, out, inout): a chain, readers between writers, a diamond.
#include "check.h"

int main(void) {
  for (int round = 0; round < 10; ++round) {
    int chain = 0, value = 0, a = 0, b = 0, c = 0, d = 0, readers = 0;
#pragma omp parallel
#pragma omp single
    {
      for (int i = 0; i < 100; ++i) {
#pragma omp task depend(inout : chain) firstprivate(i) shared(chain)
        {
          CHECK_EQUAL(chain, i);
          chain = i + 1;
        }
      }
      for (int i = 0; i < 10; ++i) {
#pragma omp task depend(out : value) firstprivate(i) shared(value, readers)
        {
          CHECK_EQUAL(readers, 5 * i);
          check_work(500);
          value = i;
        }
        for (int k = 0; k < 5; ++k) {
#pragma omp task depend(in : value) firstprivate(i) shared(value, readers)
          {
            CHECK_EQUAL(value, i);
#pragma omp atomic
            ++readers;
          }
        }
      }
#pragma omp task depend(out : a) shared(a)
      {
        check_work(3000);
        a = 1;
      }
#pragma omp task depend(in : a) depend(out : b) shared(a, b)
      b = a + 1;
#pragma omp task depend(in : a) depend(out : c) shared(a, c)
      c = a + 2;
#pragma omp task depend(in : b, c) depend(out : d) shared(b, c, d)
      d = b * 10 + c;
    }
    CHECK_EQUAL(chain, 100);
    CHECK_EQUAL(readers, 50);
    CHECK_EQUAL(d, 23);
  }
  return FINISHED();
}

// More loops without barriers in a row than a runtime keeps descriptors, with one member that comes late.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  static int count[40];
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == 1) check_work(200000);
    for (int k = 0; k < 40; ++k) {
      if (k % 4 == 0) {
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 10 + k; ++i) {
#pragma omp atomic
          ++count[k];
        }
      } else if (k % 4 == 1) {
#pragma omp for schedule(guided, 2) nowait
        for (int i = 0; i < 10 + k; ++i) {
#pragma omp atomic
          ++count[k];
        }
      } else if (k % 4 == 2) {
#pragma omp single nowait
        count[k] += 10 + k;
      } else {
#pragma omp sections nowait
        {
#pragma omp section
          {
#pragma omp atomic
            count[k] += 10;
          }
#pragma omp section
          {
#pragma omp atomic
            count[k] += k;
          }
        }
      }
    }
  }
  for (int k = 0; k < 40; ++k) CHECK_EQUAL(count[k], 10 + k);
  return FINISHED();
}

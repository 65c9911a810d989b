// A pipeline of spinning members, the first of which computes: everybody waits for the one before.
#include "check.h"

enum { size = 5, items = 20 };
static int done[size];

int main(void) {
  omp_set_dynamic(0);
  int value[items] = {0};
#pragma omp parallel num_threads(size)
  {
    const int me = omp_get_thread_num();
    for (int i = 0; i < items; ++i) {
      if (me > 0) {
        while (__atomic_load_n(&done[me - 1], __ATOMIC_ACQUIRE) <= i) {
        }
      }
      CHECK_EQUAL(value[i], me);
      value[i] = me + 1;
      __atomic_store_n(&done[me], i + 1, __ATOMIC_RELEASE);
    }
  }
  for (int i = 0; i < items; ++i) CHECK_EQUAL(value[i], size);
  return FINISHED();
}

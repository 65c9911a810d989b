// Simple locks: exclusion, test, one handed from thread to thread, many of them.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  omp_lock_t lock, table[40];
  omp_init_lock(&lock);
  for (int i = 0; i < 40; ++i) omp_init_lock(&table[i]);
  long count = 0, tested = 0, counts[40] = {0};
#pragma omp parallel num_threads(5)
  {
    for (int i = 0; i < 300; ++i) {
      omp_set_lock(&lock);
      ++count;
      omp_unset_lock(&lock);
      const int k = (i * 7 + omp_get_thread_num()) % 40;
      omp_set_lock(&table[k]);
      ++counts[k];
      omp_unset_lock(&table[k]);
      if (omp_test_lock(&lock)) {
        ++count;
        omp_unset_lock(&lock);
#pragma omp atomic
        ++tested;
      }
    }
  }
  CHECK_EQUAL(count, 1500 + tested);
  long sum = 0;
  for (int i = 0; i < 40; ++i) sum += counts[i];
  CHECK_EQUAL(sum, 1500);
  omp_set_lock(&lock);
  CHECK(!omp_test_lock(&lock));
  omp_unset_lock(&lock);
  CHECK(omp_test_lock(&lock));
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
  for (int i = 0; i < 40; ++i) omp_destroy_lock(&table[i]);
  return FINISHED();
}

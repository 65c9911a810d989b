// OMP_STACKSIZE is what a member has at least, but for the initial thread.
// env: OMP_STACKSIZE=32M OMP_NUM_THREADS=3
#include "check.h"

__attribute__((noinline)) static void use(void) {
  volatile char large[16 << 20];
  for (unsigned i = 0; i < sizeof large; i += 4096) large[i] = (char)i;
  CHECK_EQUAL(large[4096 * 3], 0);
}

int main(void) {
#pragma omp parallel
  if (omp_get_thread_num() != 0) use();
  return FINISHED();
}

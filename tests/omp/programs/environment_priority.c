// OMP_MAX_TASK_PRIORITY.
// env: OMP_MAX_TASK_PRIORITY=12
#include "check.h"

int main(void) {
  CHECK_EQUAL(omp_get_max_task_priority(), 12);
  return FINISHED();
}

// lastprivate(conditional): the value of the last iteration that assigns.
#include "check.h"

int main(void) {
  for (int round = 0; round < 5; ++round) {
    int found = -1, dynamic = -1;
#pragma omp parallel for lastprivate(conditional : found)
    for (int i = 0; i < 500; ++i) {
      if (i % 37 == 5) found = i;
    }
    CHECK_EQUAL(found, 486);
#pragma omp parallel for lastprivate(conditional : dynamic) schedule(dynamic, 3)
    for (int i = 0; i < 500; ++i) {
      if (i % 41 == 7) dynamic = i;
    }
    CHECK_EQUAL(dynamic, 499);
  }
  return FINISHED();
}

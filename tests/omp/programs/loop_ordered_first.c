// An ordered loop in a team that is being made: who has had its turn wakes the others, who may not run yet. Each
// region is larger than the last, so each has members that it makes.
#include "check.h"

int main(void) {
  for (int members = 2; members <= 256; members *= 2) {
    int next = 0;
#pragma omp parallel for ordered schedule(dynamic) num_threads(members)
    for (int i = 0; i < 4 * members; ++i) {
#pragma omp ordered
      {
        CHECK_EQUAL(next, i);
        ++next;
      }
    }
    CHECK_EQUAL(next, 4 * members);
  }
  return FINISHED();
}

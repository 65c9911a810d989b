// The affinity format: set, get, captured with its fields.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  omp_set_affinity_format("n=%n l=%L t=%{thread_num} of %N a=%a");
  char text[200];
  CHECK_EQUAL(omp_get_affinity_format(text, sizeof text), strlen("n=%n l=%L t=%{thread_num} of %N a=%a"));
  CHECK(strcmp(text, "n=%n l=%L t=%{thread_num} of %N a=%a") == 0);
  char cut[5];
  omp_get_affinity_format(cut, sizeof cut);
  CHECK(strncmp(cut, "n=%n", 4) == 0 && cut[4] == 0);
#pragma omp parallel num_threads(3)
  {
    char got[200], wanted[200];
    omp_capture_affinity(got, sizeof got, NULL);
    const int me = omp_get_thread_num();
    snprintf(wanted, sizeof wanted, "n=%d l=1 t=%d of 3 a=0", me, me);
    CHECK(strcmp(got, wanted) == 0);
    omp_capture_affinity(got, sizeof got, "%5n|%0.4n|%.3n");
    snprintf(wanted, sizeof wanted, "%-5d|%04d|%3d", me, me, me);
    CHECK(strcmp(got, wanted) == 0);
  }
  return FINISHED();
}

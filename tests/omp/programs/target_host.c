// target regions fall back to the host: their data, their teams, if, nowait with depend.
#include "check.h"

#pragma omp declare target
static int twice(int x) { return 2 * x; }
static int global = 4;
#pragma omp end declare target

int main(void) {
  CHECK_EQUAL(omp_get_num_devices(), 0);
  CHECK_EQUAL(omp_get_initial_device(), omp_get_num_devices());
  CHECK(omp_is_initial_device());
  int a[100], x = 5, sum = 0;
  for (int i = 0; i < 100; ++i) a[i] = i;
#pragma omp target map(tofrom : a, x)
  {
    CHECK(omp_is_initial_device());
    for (int i = 0; i < 100; ++i) a[i] = twice(a[i]);
    x += global;
  }
  CHECK_EQUAL(x, 9);
#pragma omp target teams distribute parallel for map(tofrom : a, sum) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) sum += a[i];
  CHECK_EQUAL(sum, 9900);
#pragma omp target data map(tofrom : a)
  {
#pragma omp target parallel for
    for (int i = 0; i < 100; ++i) a[i] += 1;
#pragma omp target update from(a)
  }
#pragma omp target enter data map(to : a)
#pragma omp target exit data map(from : a)
  for (int i = 0; i < 100; ++i) CHECK_EQUAL(a[i], 2 * i + 1);
  int first = 0, second = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp target nowait depend(out : first) map(tofrom : first)
    first = 3;
#pragma omp target nowait depend(in : first) depend(out : second) map(tofrom : second) map(to : first)
    second = first + 1;
#pragma omp taskwait
    CHECK_EQUAL(second, 4);
  }
#pragma omp target if (0) map(tofrom : x)
  x = 1;
  CHECK_EQUAL(x, 1);
  // A limit that fits into the word that names it, and one that does not; the teams and threads inside have it, too.
  const int before = omp_get_thread_limit();
  int limit = 0, large = 0, threads = 0;
#pragma omp target thread_limit(2) map(tofrom : limit, threads)
  {
    limit = omp_get_thread_limit();
#pragma omp parallel num_threads(4)
#pragma omp single
    threads = omp_get_num_threads();
  }
  CHECK_EQUAL(limit, 2);
  CHECK(threads == 1 || threads == 2);
#pragma omp target thread_limit(100 + 100000 * first) map(tofrom : large)
  large = omp_get_thread_limit();
  CHECK_EQUAL(large, 300100);
  threads = 0;
#pragma omp target thread_limit(2) map(tofrom : threads)
#pragma omp teams num_teams(1)
#pragma omp parallel num_threads(4)
#pragma omp single
  threads = omp_get_num_threads();
  CHECK(threads == 1 || threads == 2);
  CHECK_EQUAL(omp_get_thread_limit(), before);
  return FINISHED();
}

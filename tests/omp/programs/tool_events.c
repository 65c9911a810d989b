// A tool hears of each event once: counts of library/tool.c against what the program has done.
// library: tool
// link: -ldl
// stderr: tool: right
// oracle: not libgomp: has no interface for tools
// oracle: not libomp: tells of more barriers, and of static loops' reductions
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#include "check.h"
#include "tool_events.h"

static long long count_of(int what) {
  // The library that gcc links against has no such function.
  int (*control)(int, int, void*) = (int (*)(int, int, void*))dlsym(RTLD_DEFAULT, "omp_control_tool");
  long long count = -1;
  CHECK(control != NULL);
  if (control != NULL) CHECK_EQUAL(control(tool_command + what, 7, &count), 0);
  return count;
}

#define BOTH(what, wanted)                       \
  do {                                           \
    CHECK_EQUAL(count_of(what), wanted);         \
    CHECK_EQUAL(count_of(ended_##what), wanted); \
  } while (0)

int main(int argc, char** argv) {
  if (argc == 2 && getenv("OMP_TOOL_LIBRARIES") == NULL) {
    setenv("OMP_TOOL_LIBRARIES", argv[1], 1);
    execv(argv[0], argv);
    perror("execv");
    return 1;
  }
  const int n = omp_get_max_threads();
  int x = 0, sum = 0;
  omp_lock_t lock;
  omp_nest_lock_t nested;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nested);

  for (int round = 0; round < 10; ++round) {
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp barrier
#pragma omp critical
      x += 1;
      omp_set_lock(&lock);
      omp_unset_lock(&lock);
      omp_set_nest_lock(&nested);
      omp_set_nest_lock(&nested);
      omp_unset_nest_lock(&nested);
      omp_unset_nest_lock(&nested);
#pragma omp for schedule(dynamic, 3) nowait
      for (int i = 0; i < loop_trips; ++i) sum += i;
#pragma omp single nowait
      {
        int in[4] = {0, 0, 0, 0};
#pragma omp taskgroup
        for (int i = 0; i < 20; ++i) {
#pragma omp task firstprivate(i) shared(in)
          {
#pragma omp atomic
            in[i % 4] += 1;
#pragma omp task shared(in)
            {
#pragma omp atomic
              in[0] += 1;
            }
          }
        }
#pragma omp task depend(out : in[1]) shared(in)
        in[1] += 1;
#pragma omp task depend(in : in[1]) shared(in)
        in[2] += in[1];
#pragma omp task if (0) shared(in)
        in[3] += 1;
#pragma omp taskwait
#pragma omp taskloop grainsize(5)
        for (int i = 0; i < 50; ++i) check_work(1);
        CHECK_EQUAL(in[0], 25);
      }
    }
  }
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nested);
  CHECK_EQUAL(x, 10 * n);

  CHECK_EQUAL(count_of(initial_threads), 1);
  CHECK_EQUAL(count_of(worker_threads), n - 1);
  BOTH(regions, 10);
  CHECK_EQUAL(count_of(implicit_tasks), 10 * n);
  CHECK_EQUAL(count_of(joins), 10 * n);
  BOTH(barriers, 10 * n);
  BOTH(taskwaits, 10);
  BOTH(taskgroups, 20);  // one of the taskloop
  CHECK_EQUAL(count_of(tasks), 10 * (20 + 20 + 2 + 1 + 10));
  CHECK_EQUAL(count_of(dependent_tasks), 10 * 2);
  CHECK_EQUAL(count_of(clauses), 10 * 2);
  CHECK_EQUAL(count_of(begun_tasks), count_of(tasks));
  CHECK_EQUAL(count_of(ended_tasks), count_of(tasks));
  BOTH(loops, 10 * n);
  CHECK_EQUAL(count_of(iterations), 10 * loop_trips);
#ifdef __clang__  // gcc has no calls for them
  BOTH(reductions, 10 * n);
#endif
  BOTH(singles, 10);
  BOTH(other_singles, 10 * (n - 1));
  BOTH(taskloops, 10);
  CHECK_EQUAL(count_of(taskloop_iterations), 10 * 50);
  CHECK_EQUAL(count_of(criticals), 10 * n);
  CHECK_EQUAL(count_of(locks), 10 * 2 * n);  // of the nest lock the first time
  CHECK_EQUAL(count_of(wanted_mutexes), 10 * 4 * n);
  CHECK_EQUAL(count_of(released_mutexes), 10 * 3 * n);
  BOTH(nested_locks, 10 * n);
  CHECK_EQUAL(count_of(made_locks), 2);
  CHECK_EQUAL(count_of(destroyed_locks), 2);
  return FINISHED();
}

// Members that wait for each other as in MKL's graphs of tasks, which call nothing but functions of MKL's own.
// library: task_graph
// needs: preload, for nobody is preempted
// env: HEDDLE_OMP_PREEMPT=off
// link: -ldl
#include <dlfcn.h>

#include "check.h"

enum { rounds = 50 };

int main(int argc, char** argv) {
  CHECK_EQUAL(argc, 2);
  // As MKL is opened by its users.
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL);
  if (library == NULL) return FINISHED();
  int (*take_turns)(int, int, int) = (int (*)(int, int, int))dlsym(library, "take_turns");
  CHECK(take_turns != NULL);
  omp_set_dynamic(0);
  int size = 1, most = 0;
#pragma omp parallel reduction(max : most)
  {
#pragma omp single
    size = omp_get_num_threads();
    most = take_turns(omp_get_thread_num(), size, rounds);
  }
  CHECK_EQUAL(most, rounds * size);
  return FINISHED();
}

// A program with regions loads a library with some, uses it, unloads it, and does so again.
// library: regions
// link: -ldl
#include <dlfcn.h>

#include "check.h"

int main(int argc, char** argv) {
  CHECK_EQUAL(argc, 2);
  int members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
  members += 1;
  CHECK_EQUAL(members, 3);
  for (int round = 0; round < 5 && argc == 2; ++round) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fprintf(stderr, "%s\n", dlerror());
    CHECK(library != NULL);
    if (library == NULL) break;
    int (*count)(int) = (int (*)(int))dlsym(library, "count_members");
    CHECK_EQUAL(count(3), 3);
    CHECK_EQUAL(count(4), 4);
    CHECK_EQUAL(dlclose(library), 0);
  }
  return FINISHED();
}

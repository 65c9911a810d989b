// A program that is not linked with OpenMP loads a library that is, and unloads it: the runtime comes with the library.
// oracle: not libgomp: is unloaded while its threads are in it
// library: regions
// link: -ldl
// plain: compiled without -fopenmp
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int wrong = argc != 2;
  for (int round = 0; round < 5 && wrong == 0; ++round) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    int (*count)(int) = (int (*)(int))dlsym(library, "count_members");
    wrong += count(3) != 3;
    wrong += count(4) != 4;
    wrong += dlclose(library) != 0;
  }
  printf("%s: %s\n", __FILE__, wrong == 0 ? "right" : "wrong");
  return wrong != 0;
}

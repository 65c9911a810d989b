// Prints how large a region's team is; ends with the status that is its argument.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
  members += 1;
  printf("%d members\n", members);
  return argc > 1 ? atoi(argv[1]) : 0;
}

// A library with a region.
int members_of_region(void);

int members_of_region(void) {
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members += 1;
  return members;
}

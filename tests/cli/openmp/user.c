// A program without OpenMP whose library uses it.
#include <stdio.h>

int members_of_region(void);

int main(void) {
  printf("%d members\n", members_of_region());
  return 0;
}

// A barrier in the program's own code whose waiters only spin: in a team larger than the number of processors some
// waiters must be preempted.
#include "spin.h"

static void between(void) {}

int main(void) {
  count_by_barriers(6, 3, between);
  return FINISHED();
}

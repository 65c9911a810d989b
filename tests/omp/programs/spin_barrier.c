// A barrier in the program's own code whose waiters do nothing but look: in a team larger than the processors some of
// those that look have to be preempted.
#include "spin.h"

static void between(void) {}

int main(void) {
  count_by_barriers(6, 3, between);
  return FINISHED();
}

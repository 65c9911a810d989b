// The same as spin_barrier.c with waiters that call sched_yield, as many libraries have them.
#include <sched.h>

#include "spin.h"

static void between(void) { sched_yield(); }

int main(void) {
  count_by_barriers(6, 30, between);
  return FINISHED();
}

// Members of nested regions that hand a token round all regions and call sched_yield meanwhile.
// env: OMP_MAX_ACTIVE_LEVELS=2 OMP_DYNAMIC=false
#include <sched.h>

#include "check.h"
#include "ring.h"

static void between(void) { sched_yield(); }

int main(void) {
  CHECK_EQUAL(hand_round(3, 3, 4, between), 3 * 3 * 4);
  return FINISHED();
}

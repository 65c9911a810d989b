// Members of nested regions, each larger than the workers, hand a token round all regions and do nothing but look
// meanwhile. So gangs have to take turns.
// env: HEDDLE_OMP_TEAMS=gang HEDDLE_WORKERS=3 OMP_MAX_ACTIVE_LEVELS=2
#include "check.h"
#include "ring.h"

static void between(void) {}

int main(void) {
  CHECK_EQUAL(hand_round(3, 4, 3, between), 3 * 4 * 3);
  return FINISHED();
}

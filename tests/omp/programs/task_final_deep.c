// All descendants of a final task are final and run on its thread, though tasks that were not final
// have run at the same depth before; and the other way round.
#include "check.h"

static int elsewhere;
static int not_final;
static int is_final;

// Undeferred tasks inside undeferred tasks: their memory is at hand for later ones at the same depth.
static void nest(int depth) {
  if (depth == 0) return;
#pragma omp task if (0)
  {
    if (omp_in_final()) {
#pragma omp atomic
      ++is_final;
    }
    nest(depth - 1);
  }
}

static void descend(int depth, int on) {
  for (int i = 0; i < 4; ++i) {
#pragma omp task shared(elsewhere, not_final) firstprivate(depth, on)
    {
      if (omp_get_thread_num() != on) {
#pragma omp atomic
        ++elsewhere;
      }
      if (!omp_in_final()) {
#pragma omp atomic
        ++not_final;
      }
      if (depth > 0) descend(depth - 1, on);
    }
  }
}

int main(void) {
  omp_set_dynamic(0);
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(4)
    {
      nest(4);
#pragma omp single
      {
        nest(3);
#pragma omp task final(1) if (0)
        descend(3, omp_get_thread_num());
        nest(3);
      }
    }
  }
  CHECK_EQUAL(elsewhere, 0);
  CHECK_EQUAL(not_final, 0);
  CHECK_EQUAL(is_final, 0);
  return FINISHED();
}

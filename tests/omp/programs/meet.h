// A barrier of the program's own that does nothing but look, one for each region that uses it, and regions whose
// members meet at one.
#pragma once

struct meeting {
  int arrived, phase;
};

static inline void meet(struct meeting* at, int size) {
  const int now = __atomic_load_n(&at->phase, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&at->arrived, 1, __ATOMIC_ACQ_REL) == size) {
    __atomic_store_n(&at->arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&at->phase, now + 1, __ATOMIC_RELEASE);
  } else {
    while (__atomic_load_n(&at->phase, __ATOMIC_ACQUIRE) == now) {
    }
  }
}

// Regions of `size`, one after another, each of whose members adds itself to *members between two meetings.
static inline void regions_that_meet(int rounds, int size, int* members) {
  for (int round = 0; round < rounds; ++round) {
    struct meeting at = {0, 0};
#pragma omp parallel num_threads(size) shared(at)
    {
      meet(&at, size);
#pragma omp atomic
      ++*members;
      meet(&at, size);
    }
  }
}

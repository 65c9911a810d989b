// A barrier in the program's own code, as many libraries have one: between two looks its waiters do what they are told.
#pragma once

#include "check.h"

static int spin_arrived, spin_phase;

static void spin_barrier(int size, void (*between)(void)) {
  const int now = __atomic_load_n(&spin_phase, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&spin_arrived, 1, __ATOMIC_ACQ_REL) == size) {
    __atomic_store_n(&spin_arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&spin_phase, now + 1, __ATOMIC_RELEASE);
  } else {
    while (__atomic_load_n(&spin_phase, __ATOMIC_ACQUIRE) == now) between();
  }
}

// A team counts itself, and all of it sees the same count after each barrier.
static void count_by_barriers(int size, int rounds, void (*between)(void)) {
  int sum = 0;
  omp_set_dynamic(0);
#pragma omp parallel num_threads(size)
  {
    for (int i = 1; i <= rounds; ++i) {
#pragma omp atomic
      ++sum;
      spin_barrier(size, between);
      int now;
#pragma omp atomic read
      now = sum;
      CHECK_EQUAL(now, i * size);
      spin_barrier(size, between);
    }
  }
}

// Members of nested regions that hand a token round all regions: any of them may be the one that all others wait for.
// Between two looks they do what they are told.
#pragma once

#include <omp.h>

// How often the token was handed on.
static inline int hand_round(int outer, int inner, int rounds, void (*between)(void)) {
  int token = 0;
#pragma omp parallel num_threads(outer)
  {
    const int mine = omp_get_thread_num() * inner;
#pragma omp parallel num_threads(inner)
    {
      const int me = mine + omp_get_thread_num();
      for (int round = 0; round < rounds; ++round) {
        const int turn = round * outer * inner + me;
        while (__atomic_load_n(&token, __ATOMIC_ACQUIRE) != turn) between();
        __atomic_store_n(&token, turn + 1, __ATOMIC_RELEASE);
      }
    }
  }
  return token;
}

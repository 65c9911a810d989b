// Waits as MKL's parallel LAPACK routines do: a try for a lock, a look under it, for ever. For waits_mkl.c.
int mkl_serv_trylock(int* lock);
void mkl_serv_unlock(int* lock);
int take_turns(int me, int size, int rounds);

__attribute__((noinline)) int mkl_serv_trylock(int* lock) {
  int nobody = 0;
  return __atomic_compare_exchange_n(lock, &nobody, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

__attribute__((noinline)) void mkl_serv_unlock(int* lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

static int lock;
static int turn;  // under it; atomic for compilers that know what the functions above do not touch

// Each member's number in turn, so many times. The last value of the turn.
int take_turns(int me, int size, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    for (;;) {
      if (!mkl_serv_trylock(&lock)) continue;
      const int now = __atomic_load_n(&turn, __ATOMIC_RELAXED);
      const int mine = now == i * size + me;
      __atomic_store_n(&turn, now + mine, __ATOMIC_RELAXED);
      mkl_serv_unlock(&lock);
      if (mine) break;
    }
  }
  while (!mkl_serv_trylock(&lock)) continue;
  const int now = __atomic_load_n(&turn, __ATOMIC_RELAXED);
  mkl_serv_unlock(&lock);
  return now;
}

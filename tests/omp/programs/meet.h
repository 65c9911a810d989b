// A barrier of the program's own that does nothing but look, one for each region that uses it.
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

// A barrier in the program's own code, as many libraries have one: between two looks its waiters do what they are told.
#pragma once

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

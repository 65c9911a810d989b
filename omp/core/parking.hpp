// Where an OpenMP thread sleeps. One a thread, whatever it waits for: a barrier's end, a task to run, a child's end,
// its next region. So whoever changes something that it may wait for wakes the thread, and the thread looks again.
#pragma once

#include <atomic>

#include "omp/seam.hpp"

namespace heddle::omp {

class thread;

class parking {
 public:
  // Returns when ready() is true, which is asked before each sleep, and after each wake(). First it spins, looking
  // again and again, for as long as nothing else wants the processor and the wait policy allows (OMP_WAIT_POLICY,
  // KMP_BLOCKTIME, GOMP_SPINCOUNT); then it sleeps: a user-level thread is suspended and its worker goes on with
  // others, a foreign kernel thread sleeps in the kernel. It never migrates but by being suspended.
  //
  // Nothing is lost: who makes ready() true writes what it reads, then calls wake(), which has a fence between its
  // caller's write and its own look at whether anybody sleeps.
  template <class Ready>
  void wait(Ready ready);

  // Any thread. Costs a fence and a load when the thread does not sleep.
  void wake() noexcept;
  // The same where the caller has executed a sequentially consistent fence since its write.
  void wake_after_fence() noexcept;
};

}  // namespace heddle::omp

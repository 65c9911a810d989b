// The state of a worker, which others may see: the lowest of its layers (worker.hpp). Each word is the worker's own
// unless its comment says who else writes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include <heddle/detail/fork_queue.hpp>

#include "base/random.hpp"
#include "fiber/thread.hpp"
#include "platform/platform.hpp"
#include "sync/spin_habit.hpp"
#include "trace/ring.hpp"
#include "worker/carriers/carrier_pool.hpp"
#include "worker/searching/lone_new.hpp"
#include "worker/searching/parker.hpp"
#include "worker/searching/ready_queue.hpp"

namespace heddle::worker {

class runtime;
struct driver;
struct substitute;
class task_meter;
class worker;
struct carrier;

using fiber::thread;

struct worker_state : detail::fork_queue {
  worker_state(runtime& owner, unsigned number, int unit, std::uint64_t seed) noexcept;

  runtime& home;
  const unsigned rank;
  int processing_unit;  // to bind to; -1 means not bound
  // True while the worker searches or sleeps. Written by the worker, with a fence before its next act once it is no
  // longer idle: [caller_runs:5] of caller_runs.md. To others a hint.
  std::atomic<bool> idle{false};
  // [wake:5] Until then (platform::cycles) the worker leaves the contents of the inbox to a worker that was woken for
  // it. Its own.
  std::uint64_t leaves_inbox_until{0};
  bool watches_spawns{false};  // the policy wants to hear of children; the worker's
  // A trace or the policy wants to know which thread runs here: `ring` or `meter` is not null. Set before the worker
  // starts.
  bool watches_switches{false};
  carrier* by{nullptr};  // changes in blocking(); written before the worker is handed over
  trace::ring* ring{nullptr};
  ready_queue ready;
  base::random_source random;
  const std::uint64_t bound;  // platform::cycles: [service:1]
  class parker parker;        // tells who acts for the worker; its sleeping carrier waits there
  struct {
    std::atomic<std::uint64_t> made{0};      // by this worker; threads that outlive their maker's scope
    std::atomic<std::uint64_t> finished{0};  // on this worker
  } threads;

  // With a foreign kernel thread that runs its call itself (caller_runs.md). All the worker's own.
  struct {
    carrier* own_carrier{nullptr};  // the carrier that sleeps meanwhile; null if the worker is not with a caller
    bool unlisted{false};           // the worker sleeps, or is with a caller, and is not in the idle set
    bool wants_own_carrier{false};  // a ready thread here must not run on a foreign kernel thread
    std::atomic<int> kernel_thread{
        0};  // the foreign one that has the worker, or had it last; read by the service clock
  } caller_run;

  // Of an arena's worker, which has no kernel thread of its own: what has it carried. Null: it is no such worker.
  // Written before the worker is known to others.
  driver* drives{nullptr};
  // Of a worker beside those of the runtime (substitutes.md): what has made it, or null for any other worker. Written
  // before the worker is known to others.
  substitute* stands_in{nullptr};

  // KLT-switching. All the worker's own.
  thread* passing_to{nullptr};  // a bound thread that thread_for met, and that the run loop must go to
  thread* first{nullptr};       // the thread that a carrier that gets this worker runs first
  carrier_pool spares;
  static constexpr std::int8_t not_evictable = std::numeric_limits<std::int8_t>::max();
  struct {
    platform::nanoseconds since{0};  // when the worker was made
    // Where timers are shared, they send the worker no tick before that time. Written by the worker, a hint.
    std::atomic<platform::nanoseconds> not_before{0};
    // The worker runs, or ran when it was last asked, a preemptive thread. Written by the worker.
    std::atomic<bool> are_wanted{false};
    std::atomic<int> kernel_thread{0};  // of its carrier; 0 on the way to another
    // The policy has asked for the end of the running thread's time slice. Set by any worker, taken back by the next
    // tick here.
    std::atomic<bool> end_slice{false};
    // A tick found no carrier: the creator sends another tick when there is one.
    std::atomic<bool> lack_carrier{false};
    // The level of the preemptive thread whose own code runs here. It is not_evictable if the runtime's code runs, or
    // no preemptive thread, or there are no priorities. Written by the worker and its handler, cleared by the kernel
    // thread that sends the worker a tick; a hint.
    std::atomic<std::int8_t> evict_below{not_evictable};
    // The worker runs a thread below normal, or takes one out of a list. Written by the worker; a hint, [evict:1].
    std::atomic<bool> runs_low{false};
  } ticking;

  // A futex word of an inactive worker, read by the worker. Odd means that the worker is inactive. `set_active` adds 1
  // to change that. Making a thread ready that is pinned to the worker adds 2 while the word is odd.
  std::atomic<std::uint32_t> inactive{0};
  // Threads are packed, pinned or have priorities. Set before the first such thread is made.
  std::atomic<bool> queues_specially{false};

  std::atomic<std::uint64_t> picks{0};  // written by the worker; its progress, for the watchdog
  // What other workers, which share its preemptive threads with theirs, remember of it; hints.
  struct {
    std::atomic<std::uint64_t> picks{0};
    std::atomic<std::uint64_t> since{0};  // when its picks became that many
  } seen;

  lone_new lone;
  // Of the threads that run here and wait for a mutex, or at a barrier; the worker's.
  sync::spin_habit lock_spins, barrier_spins;
  // The meter of the tasks that run here, or null if the policy does not want one. Set before the worker starts.
  // watches_switches may be false all the same.
  task_meter* meter{nullptr};

  struct {  // written by the worker, read by anyone as a hint
    std::atomic<std::uint64_t> steals{0}, forced{0}, parks{0}, wakes{0}, preemptions{0}, ticks{0};
  } counts;

  // Adds or removes a reason for slow picks. By any kernel thread.
  void pick_slowly(pick_reason why, bool on) noexcept {
    if (on) picks_specially.fetch_or(why);
    else picks_specially.fetch_and(static_cast<std::uint8_t>(~why));
  }

 protected:
  // The whole worker, of which this is the lowest layer.
  worker& whole() noexcept;
};

}  // namespace heddle::worker

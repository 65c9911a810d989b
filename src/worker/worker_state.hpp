// What a worker knows of itself and others may see of it: the lowest of its layers (worker.hpp). Each word is the
// worker's own unless it says who else writes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include <heddle/detail/fork_queue.hpp>

#include "base/random.hpp"
#include "fiber/thread.hpp"
#include "platform/platform.hpp"
#include "trace/ring.hpp"
#include "worker/carriers/carrier_pool.hpp"
#include "worker/searching/lone_new.hpp"
#include "worker/searching/ready_queue.hpp"
#include "worker/searching/token.hpp"

namespace heddle::worker {

class runtime;
struct driver;
class task_meter;
class worker;
struct carrier;

using fiber::thread;

struct worker_state : detail::fork_queue {
  worker_state(runtime& owner, unsigned number, int unit, std::uint64_t seed) noexcept
      : home(owner), rank(number), processing_unit(unit), random(seed) {
    ticking.since = platform::now();
  }

  runtime& home;
  const unsigned rank;
  int processing_unit;  // to bind to; -1: not bound
  // It searches or sleeps. Written by the worker, with a fence before what
  // it does next once it is no longer idle: [borrow:5] of lending.md. To others a hint.
  std::atomic<bool> idle{false};
  // [wake:5] Until then (platform::cycles) it leaves what is in the inbox to a worker that was woken for it. Its own.
  std::uint64_t leaves_inbox_until{0};
  bool watches_spawns{false};  // the policy wants to hear of children; the worker's
  // A trace or the policy wants to know who runs here: `ring` or `meter` is not null. Set before the worker starts.
  bool watches_switches{false};
  carrier* by{nullptr};  // changes in blocking(); written before the worker is handed over
  trace::ring* ring{nullptr};
  // Only with every_join: the job that the last pop took back but reported as stolen, so that its join is seen, too.
  detail::entry taken_back{0};
  ready_queue ready;
  base::random_source random;
  class token token;  // who acts for it; its sleeping carrier waits there
  struct {
    std::atomic<std::uint64_t> made{0};      // by this worker; threads that outlive their maker's scope
    std::atomic<std::uint64_t> finished{0};  // on this worker
  } threads;

  // Lent to a foreign kernel thread. All the worker's own.
  struct {
    carrier* lender{nullptr};  // the carrier that sleeps meanwhile; null: it is not lent
    bool unlisted{false};      // it sleeps, or is lent, and is not in the idle set
    bool wants_lender{false};  // what is ready here must not run on a foreign kernel thread
  } loan;

  // Of an arena's worker, which has no kernel thread of its own: what has it carried. Null: it is no such worker.
  // Written before the worker is known to others.
  driver* drives{nullptr};

  // KLT-switching. All the worker's own.
  thread* passing_to{nullptr};  // thread_for met it: bound, to be gone to from the run loop
  thread* first{nullptr};       // what a carrier that gets this worker runs first
  carrier_pool spares;
  static constexpr std::int8_t not_evictable = std::numeric_limits<std::int8_t>::max();
  struct {
    platform::nanoseconds since{0};  // the worker was made
    // Where timers are shared: they send it no tick before that; written by the worker, a hint.
    std::atomic<platform::nanoseconds> not_before{0};
    // it runs, or did when it last was asked, a preemptive thread; written by the worker
    std::atomic<bool> are_wanted{false};
    std::atomic<int> kernel_thread{0};  // of its carrier; 0: on the way to another
    // The policy has asked for the turn of what runs here. Set by any worker, taken back by the next tick here.
    std::atomic<bool> end_turn{false};
    std::atomic<bool> lack_carrier{false};  // a tick found none: the creator sends another one when there is one
    // Level of the preemptive thread whose own code runs here; not_evictable: the runtime's code runs, or no preemptive
    // thread, or there are no priorities. Written by the worker and its handler, cleared by who sends it a tick; a
    // hint.
    std::atomic<std::int8_t> evict_below{not_evictable};
  } ticking;

  // Odd: it stands aside. set_active adds one to change that, who makes a thread ready that is pinned to it adds two
  // while it is odd; read by the worker; futex word of a worker that stands aside.
  std::atomic<std::uint32_t> aside{0};
  // threads are packed, pinned or have priorities; set before the first of these is made
  std::atomic<bool> queues_specially{false};

  std::atomic<std::uint64_t> picks{0};  // written by the worker; its progress, for the watchdog
  // What others remember of it, who share its preemptive threads with theirs; hints.
  struct {
    std::atomic<std::uint64_t> picks{0};
    std::atomic<std::uint64_t> since{0};  // when its picks became that many
  } seen;

  lone_new lone;
  // What the policy wants to know of the tasks that run here, or null. Set before the worker starts. watches_switches
  // may be false all the same.
  task_meter* meter{nullptr};

  struct {  // written by the worker, read by anyone as a hint
    std::atomic<std::uint64_t> steals{0}, forced{0}, parks{0}, wakes{0}, preemptions{0}, ticks{0};
  } counts;

 protected:
  // The worker, whose lowest layer this is.
  worker& whole() noexcept;
};

}  // namespace heddle::worker

// A set of workers with one policy, and everything that they have in common. The parts are classes of their own ("The
// parts of a runtime" in README.md). Here are their beginning and their end, and the ways in for threads from outside.
// The public heddle::runtime is a handle to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "arch/arch.hpp"
#include "fiber/stack_pool.hpp"
#include "trace/trace.hpp"
#include "worker/arenas/arena.hpp"
#include "worker/arenas/waiting_drivers.hpp"
#include "worker/carriers/blocking_calls.hpp"
#include "worker/carriers/caller_runs.hpp"
#include "worker/carriers/carriers.hpp"
#include "worker/carriers/census.hpp"
#include "worker/carriers/creator.hpp"
#include "worker/carriers/substitutes.hpp"
#include "worker/diagnosis/tracing.hpp"
#include "worker/diagnosis/watchdog.hpp"
#include "worker/gangs/gangs.hpp"
#include "worker/order/capacity.hpp"
#include "worker/order/precedence.hpp"
#include "worker/order/priorities.hpp"
#include "worker/policy_host.hpp"
#include "worker/preemption/ticks.hpp"
#include "worker/searching/inbox.hpp"
#include "worker/searching/job_queue.hpp"
#include "worker/searching/pollers.hpp"
#include "worker/searching/service_clock.hpp"
#include "worker/searching/sleepers.hpp"
#include "worker/settings.hpp"
#include "worker/time/beat.hpp"
#include "worker/time/timekeeping.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

// If a request is unanswered for so long, the victim sits in a long leaf (docs/investigations/deque.md).
inline constexpr unsigned insist_after_us = 5;

class runtime final {
 public:
  // Starts the carriers. Throws std::invalid_argument (policy), std::system_error (a kernel thread could not be
  // started), std::bad_alloc.
  explicit runtime(settings s);
  // Waits until every thread that the runtime was given has ended, then ends the carriers. Must not be called from one
  // of its own workers. Suspends a thread of another runtime.
  ~runtime();

  const settings& options() const noexcept { return settings_; }
  unsigned workers() const noexcept { return static_cast<unsigned>(workers_.size()); }
  worker& at(unsigned rank) noexcept { return *workers_[rank]; }
  // Returns the worker that is bound to the processing unit on which the caller is, looked for from `first` on;
  // workers() if there is none. Any kernel thread may call.
  unsigned worker_beside_caller(unsigned first) const noexcept;
  fiber::stack_pool& stacks() noexcept { return *stacks_; }
  inbox& incoming() noexcept { return inbox_; }
  job_queue& jobs() noexcept { return jobs_; }
  // Null: it is no arena.
  class arena* arena() const noexcept { return arena_.get(); }
  // Of the arenas whose outer runtime this is: a worker here is to carry one of theirs. Any kernel thread.
  void carry(driver& of) noexcept;
  waiting_drivers& drivers() noexcept { return drivers_; }
  void arena_begins() noexcept { arenas_.fetch_add(1); }
  void arena_ends() noexcept { arenas_.fetch_sub(1); }
  policy_host& host() noexcept { return host_; }
  trace::recorder* recorder() const noexcept { return recorder_.get(); }
  // True if more kernel threads compute than there are processors, those of other programs included. A part of a loop
  // may then wait long for its worker's processor, and a worker that looks for work gives its own away. Relaxed: a
  // hint.
  bool crowded() const noexcept { return crowded_.load(std::memory_order_relaxed); }
  void be_crowded() noexcept { crowded_.store(true, std::memory_order_relaxed); }
  // relaxed: it is seen at the latest after the waking that goes with it
  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }

  // Submits a ready thread from outside. Any kernel thread may call. Preferably the thread begins where the caller does
  // not keep the processor.
  void submit(thread& t) noexcept;
  // Submits a job from outside, or one for which its worker has no room. Any kernel thread may call.
  void submit(heddle::job& work) noexcept;
  // [wake:6]: work that any worker may take was published by a kernel thread that is no worker.
  void wake_for_submitted() noexcept;
  // Ready threads of levels beside the normal one.
  priorities& levels() noexcept { return priorities_; }
  std::uint64_t watchdog_looks() const noexcept { return watchdog_->looks(); }

  // The floating-point control with which the runtime's threads begin.
  const arch::floating_point_control& floating_point() const noexcept { return floating_point_; }
  class ticks& ticks() noexcept { return ticks_; }
  class sleepers& sleepers() noexcept { return sleepers_; }
  // An arena's is the outer runtime's.
  timekeeping& time() noexcept { return arena_ == nullptr ? time_ : settings_.arena.outer->time(); }
  class pollers& pollers() noexcept { return pollers_; }
  class capacity& capacity() noexcept { return capacity_; }
  class precedence& precedence() noexcept { return precedence_; }
  class gangs& gangs() noexcept { return gangs_; }
  class census& census() noexcept { return census_; }
  // Of the library that has residents; null if none has.
  using end_residents_function = void (*)(heddle::runtime& home) noexcept;
  static std::atomic<end_residents_function> end_residents;
  class carriers& carriers() noexcept { return carriers_; }
  class creator& creator() noexcept { return creator_; }
  class caller_runs& caller_runs() noexcept { return caller_runs_; }
  class service_clock& service_clock() noexcept { return service_clock_; }
  class blocking_calls& blocking_calls() noexcept { return blocking_calls_; }
  class substitutes& substitutes() noexcept { return substitutes_; }

 private:
  void start_kernel_threads();
  void wait_until_drained() noexcept;
  void stop() noexcept;

  settings settings_;
  std::atomic<bool> crowded_{settings_.crowded};
  // The pool outlives the runtime for the sake of threads that are not joined.
  const std::unique_ptr<fiber::stack_pool, fiber::retire_pool> stacks_;
  policy_host host_;
  std::unique_ptr<trace::recorder> recorder_;
  std::optional<tracing::registration> traced_;  // with a recorder
  worker_list workers_;
  class sleepers sleepers_;
  inbox inbox_;
  job_queue jobs_;
  waiting_drivers drivers_;
  std::atomic<unsigned> arenas_{0};  // whose outer runtime this is
  priorities priorities_;
  class capacity capacity_;
  class precedence precedence_{
      workers_, sleepers_, inbox_, priorities_, capacity_, settings_.aging, settings_.plan.interval};
  class caller_runs caller_runs_;
  timekeeping time_{sleepers_};
  class pollers pollers_;
  std::atomic<bool> stopping_{false};  // set once by the destructor
  class substitutes substitutes_{*this, workers_, time_, settings_.blocked_bound, settings_.blocking_limit};
  class census census_{workers_, substitutes_};
  class blocking_calls blocking_calls_;
  class carriers carriers_{*this};
  class creator creator_{workers_, carriers_, capacity_};
  class ticks ticks_;
  // Of the kernel thread that made the runtime.
  const arch::floating_point_control floating_point_{arch::present_floating_point_control()};
  class beat beat_{workers_, host_, capacity_};
  class service_clock service_clock_{workers_, time_, substitutes_, *stacks_, settings_.service_bound};
  class gangs gangs_;
  const std::unique_ptr<class arena> arena_;
  std::unique_ptr<watchdog> watchdog_;  // last: watches all of the above
};

// Returns the runtime of the calling thread, else the global one (made by task/runtime.cpp at first use).
runtime& here();

}  // namespace heddle::worker

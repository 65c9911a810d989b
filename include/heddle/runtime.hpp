/// Runtimes: a set of workers with a scheduling policy.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <heddle/detail/foreign.hpp>
#include <heddle/export.hpp>
#include <heddle/job.hpp>
#include <heddle/loop_schedule.hpp>
#include <heddle/machine.hpp>
#include <heddle/preemption.hpp>
#include <heddle/priority.hpp>

namespace heddle {

namespace worker {
class runtime;
struct arena_plan;
}  // namespace worker

/// Options for constructing a runtime. A field left empty takes its HEDDLE_* variable, or else its default (`heddle
/// help options`).
struct runtime_options {
  /// 0 means as many as the machine, the affinity mask and the cgroup quota allow.
  std::optional<unsigned> workers{};
  std::optional<std::string> policy{};  ///< "random_ws", "serial", ...; parameters follow after a colon
  /// The shared objects, separated by colons, whose policies `policy` can name, too. Each is loaded once in a process.
  std::optional<std::string> policy_plugin{};
  std::optional<std::string> bind{};         ///< "on", "off", "auto"
  std::optional<std::size_t> stack_size{};   ///< in bytes, of a user-level thread
  std::optional<std::size_t> stack_cache{};  ///< the number of idle stacks that are kept committed at any time
  std::optional<std::size_t> stack_keep{};   ///< the bytes of further ones that were needed of late
  std::optional<unsigned> spin{};            ///< microseconds for which a worker searches before it sleeps
  std::optional<std::uint64_t> seed{};       ///< of the workers' random sources
  /// The file to which a trace is written when the runtime ends; "" means none.
  std::optional<std::string> trace{};
  std::optional<std::size_t> trace_buffer{};  ///< the number of events kept of each worker
  std::optional<bool> smt{};                  ///< false means one worker for each core, not for each hardware thread
  /// The seconds without progress after which all threads are printed; 0 means never.
  std::optional<unsigned> watchdog{};
  /// The signal at which all threads are printed: "USR1", "USR2", "QUIT", "WINCH", "off".
  std::optional<std::string> signal_stacks{};
  /// The machine whose memory groups policies see; "" means this machine.
  std::optional<std::string> machine{};
  /// How threads without a kind of their own are preempted, those that run tasks included.
  std::optional<heddle::preemption> preempt{};
  /// The thread-local storage of such threads.
  std::optional<heddle::tls> preempt_tls{};
  std::optional<std::chrono::nanoseconds> preempt_interval{};  ///< the time slice of a preemptive thread
  std::optional<std::string> preempt_timer{};  ///< "creation", "aligned", "one-to-all", "chain", "hybrid:GROUPS"
  std::optional<std::string> preempt_klt{};    ///< "naive", "futex", "local", "direct"
  std::optional<heddle::priority_mode> priority_mode{};  ///< aging or strict
  /// After this number of time slices a ready thread gets one, whatever is above it.
  std::optional<unsigned> priority_aging{};
  std::optional<std::string> packing{};       ///< "off", "auto"
  std::optional<std::string> gang_workers{};  ///< "idle", "load"
  std::optional<loop_schedule> loop{};        ///< for parallel_for loops that name no schedule and no grain
  /// The number of calls of blocking() under way at once; further ones wait.
  std::optional<unsigned> blocking_limit{};
  /// Loops, forks, groups and yields give way to timers, ready threads and threads from outside that have waited for
  /// this long, at their next boundary (docs/guide/scheduling.md). From 10 us to 10 s; 1 ms if nobody asks.
  std::optional<std::chrono::nanoseconds> service_bound{};
  /// If all workers are in system calls for this long while work waits, a further worker runs it, with a warning once a
  /// process (docs/guide/pitfalls.md). 0 means never; at most 10 s; 1 ms if nobody asks.
  std::optional<std::chrono::nanoseconds> blocked_bound{};
};

/// The counts of a runtime since its start. A field may lag behind.
struct runtime_statistics {
  std::uint64_t steals;       ///< entries taken from another worker
  std::uint64_t forced;       ///< the part of `steals` without the victim's help
  std::uint64_t parks;        ///< the number of times that a worker went to sleep
  std::uint64_t preemptions;  ///< time slices that a tick has ended
  std::uint64_t ticks;        ///< ticks that came to a worker
  std::size_t live_threads;   ///< threads with stacks, and stacks in a worker's cache
};

/// A set of workers. Several runtimes may exist at a time; each has its own kernel threads.
class HEDDLE_API runtime {
 public:
  /// Starts the workers. Throws std::invalid_argument for a value that an option cannot have, std::system_error if
  /// kernel threads cannot be started, and std::bad_alloc. In a program that is compiled with ThreadSanitizer it throws
  /// std::runtime_error if the library is not. Thread context: any.
  explicit runtime(const runtime_options& options = {});
  /// Waits for every thread of the runtime to end, then stops. Handles of its threads may also be joined or detached
  /// afterwards. Thread context: any but the runtime's own threads. A user-level thread of another runtime is suspended
  /// meanwhile and may migrate.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// Returns the runtime that is used where none is named. It is made at first use from the HEDDLE_* variables and
  /// never destroyed. A variable with an impossible value ends the process with status 2 and a line on standard error
  /// that names the variable (the constructor throws instead). Throws std::system_error if kernel threads cannot be
  /// started, and std::bad_alloc.
  static runtime& global();
  /// Returns the runtime of the calling thread, or else the global one.
  static runtime& current();

  /// Runs f() on a user-level thread of this runtime, and returns its result or throws its exception. A caller that is
  /// a thread of this runtime calls f by itself. Any other caller waits: a user-level thread is suspended and may
  /// migrate, and a foreign kernel thread takes the place of a worker that sleeps, or sleeps until f has ended. Also
  /// throws std::system_error if no thread can be made. Thread context: any.
  template <class F>
  auto run(F&& f) {
    if (is_current()) return f();
    return detail::run_in_runtime(f, this);
  }

  /// Hands a job over to this runtime. As heddle::submit; a caller that is no thread of this runtime is treated as a
  /// foreign kernel thread is there.
  void submit(job& work, const task_info& info = {});

  unsigned workers() const noexcept;
  /// Sets thread packing: only the first n workers run threads. The others become inactive at their next switch, or at
  /// the next tick if they run preemptive threads. Their threads and tasks go to the first n workers, and come back by
  /// stealing when n grows. Preemptive threads get equal shares of the n workers, as far as time slices allow
  /// (docs/guide/preemption.md). Throws std::invalid_argument unless 1 <= n <= workers(), and if the policy places work
  /// at certain workers. With HEDDLE_PACKING=auto n is an upper bound. Thread context: any; does not wait.
  void set_active_workers(unsigned n);
  unsigned active_workers() const noexcept;
  /// Returns the rank of the worker that runs the caller, or -1 if it is not a worker of this runtime. It may be out of
  /// date at once.
  int worker_rank() const noexcept;
  bool is_current() const noexcept;
  std::string policy() const;
  /// Returns the machine as the runtime's workers see it: their memory groups, with ranks in the order of the tree. It
  /// is valid as long as the runtime. If workers are not bound it says where they would be.
  machine::view machine() const noexcept;
  runtime_statistics statistics() const noexcept;

  worker::runtime& core() noexcept { return *core_; }

 private:
  friend class arena;
  explicit runtime(const worker::arena_plan& plan);

  std::unique_ptr<worker::runtime> core_;
};

}  // namespace heddle

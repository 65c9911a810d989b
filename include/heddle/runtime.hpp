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
#include <heddle/loop_schedule.hpp>
#include <heddle/machine.hpp>
#include <heddle/preemption.hpp>
#include <heddle/priority.hpp>

namespace heddle {

namespace worker {
class runtime;
}

/// What a runtime is made with. A field left empty takes its HEDDLE_*
/// variable, then its default (`heddle help options`).
struct runtime_options {
  /// 0: as many as the machine, the affinity mask and the cgroup quota allow
  std::optional<unsigned> workers{};
  std::optional<std::string> policy{};  ///< "random_ws", "serial", ...; parameters after a colon
  /// shared objects, separated by colons, whose policies `policy` can name, too; loaded once a process
  std::optional<std::string> policy_plugin{};
  std::optional<std::string> bind{};          ///< "on", "off", "auto"
  std::optional<std::size_t> stack_size{};    ///< bytes of a user-level thread's stack
  std::optional<std::size_t> stack_cache{};   ///< idle stacks kept committed
  std::optional<unsigned> spin{};             ///< microseconds a worker searches before it sleeps
  std::optional<std::uint64_t> seed{};        ///< of the workers' random sources
  std::optional<std::string> trace{};         ///< file to write a trace to when the runtime ends; "": none
  std::optional<std::size_t> trace_buffer{};  ///< events kept of each worker
  std::optional<bool> smt{};                  ///< false: one worker a core, not one a hardware thread
  /// seconds without progress after which all threads are printed; 0: never
  std::optional<unsigned> watchdog{};
  /// signal at which all threads are printed: "USR1", "USR2", "QUIT", "WINCH", "off"
  std::optional<std::string> signal_stacks{};
  std::optional<std::string> machine{};  ///< whose memory groups policies see; "": this machine's
  /// how threads are preempted that are made without a kind of their own, those that run tasks included
  std::optional<heddle::preemption> preempt{};
  std::optional<heddle::tls> preempt_tls{};                    ///< their thread-local storage
  std::optional<std::chrono::nanoseconds> preempt_interval{};  ///< turn of a preemptive thread
  std::optional<std::string> preempt_timer{};  ///< "creation", "aligned", "one-to-all", "chain", "hybrid:GROUPS"
  std::optional<std::string> preempt_klt{};    ///< "naive", "futex", "local", "direct"
  std::optional<heddle::priority_mode> priority_mode{};  ///< aging or strict
  std::optional<unsigned> priority_aging{};  ///< after so many turns a ready thread has one, whatever is above it
  std::optional<std::string> packing{};      ///< "off", "auto"
  std::optional<loop_schedule> loop{};       ///< of parallel_for loops that name no schedule and no grain
  std::optional<unsigned> blocking_limit{};  ///< calls of blocking() under way at once; further ones wait
};

/// What a runtime has done so far. A field may lag behind by what is under way.
struct runtime_statistics {
  std::uint64_t steals;       ///< entries taken from another worker
  std::uint64_t forced;       ///< of these, without the victim's help
  std::uint64_t parks;        ///< times a worker went to sleep
  std::uint64_t preemptions;  ///< turns that a tick has ended
  std::uint64_t ticks;        ///< ticks that came to a worker
  std::size_t live_threads;   ///< threads with stacks, and stacks in a worker's cache
};

/// A set of workers. Several may exist at a time; each has its own kernel threads.
class HEDDLE_API runtime {
 public:
  /// Starts the workers. Throws std::invalid_argument for a value that an option cannot have, std::system_error when
  /// kernel threads cannot be started, std::bad_alloc, and std::runtime_error in a program that is compiled with
  /// ThreadSanitizer when the library is not. Thread context: any.
  explicit runtime(const runtime_options& options = {});
  /// Waits for every thread of the runtime to end, then stops. Handles of its threads may be joined or detached
  /// afterwards, too. Thread context: any but the runtime's own threads; a user-level thread of another runtime
  /// suspends meanwhile and may migrate.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// The runtime used where none is named: made at first use from the HEDDLE_* variables, never destroyed. A variable
  /// with an impossible value ends the process with status 2 and one line on standard error that names it (the
  /// constructor throws instead). Throws std::system_error when kernel threads cannot be started, std::bad_alloc.
  static runtime& global();
  /// The runtime whose thread calls, else the global one.
  static runtime& current();

  /// Runs f() on a user-level thread of this runtime; returns its result or throws its exception. A caller that is a
  /// thread of this runtime calls f by itself. Any other waits: a user-level thread suspends and may migrate; a foreign
  /// kernel thread takes the place of a worker that sleeps, or sleeps until f has ended. Throws std::system_error, too,
  /// when no thread can be made. Thread context: any.
  template <class F>
  auto run(F&& f) {
    if (is_current()) return f();
    return detail::run_in_runtime(f, this);
  }

  unsigned workers() const noexcept;
  /// Thread packing: from now on only the first n workers run threads. The others stand aside at their next switch, or
  /// at the next tick if what they run is preemptive; their threads and tasks go to the first n, and come back by
  /// stealing when n grows. Preemptive threads then get equal shares of these n workers, as far as turns allow
  /// (docs/guide/preemption.md). Throws std::invalid_argument unless 1 <= n <= workers(), and where the policy places
  /// work at certain workers. With HEDDLE_PACKING=auto n is an upper bound. Thread context: any; does not wait.
  void set_active_workers(unsigned n);
  unsigned active_workers() const noexcept;
  /// Rank of the worker that runs the caller, -1 when it is not one of this runtime's. May be out of date at once.
  int worker_rank() const noexcept;
  bool is_current() const noexcept;
  std::string policy() const;
  /// The machine as the runtime's workers see it: their memory groups, ranks in the order of the tree. Valid as long as
  /// the runtime. Where workers are not bound it says where they would be.
  machine::view machine() const noexcept;
  runtime_statistics statistics() const noexcept;

  worker::runtime& core() noexcept { return *core_; }

 private:
  std::unique_ptr<worker::runtime> core_;
};

}  // namespace heddle

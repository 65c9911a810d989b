/// Jobs: the smallest unit of work. Libraries that are built above heddle hand their tasks over as jobs.
#pragma once

#include <cstddef>
#include <limits>

#include <heddle/detail/fork_queue.hpp>
#include <heddle/export.hpp>
#include <heddle/priority.hpp>

namespace heddle {

class job;

namespace detail {

struct submitted;  // the runtime's view of a job

// The code of every submitted job, as a queue sees it.
HEDDLE_API void run_submitted(detail::job* work) noexcept;

}  // namespace detail

/// Hints about a job for policies and traces. None of it is needed for correctness.
struct task_info {
  /// Stands for the place in the program that the job comes from: jobs with equal labels are taken for runs of the same
  /// code. Any address, or null for the job's
  /// function.
  const void* label = nullptr;
  /// How much work it is, in any unit that all jobs of the program share; NaN: unknown.
  double work = std::numeric_limits<double>::quiet_NaN();
  /// Bytes of memory that it touches, or 0 if that is unknown.
  std::size_t bytes = 0;
  /// Its level among what is ready. A job beside the normal level is a thread from the start.
  heddle::priority priority = heddle::priority::normal;
};

/// A unit of work in memory of the caller's, 32 bytes: derive from it, or make it a member of a task of your own. A
/// job runs once for each time that it is submitted, on a stack that the worker has at hand. It may wait for anything:
/// then it keeps that stack, becomes a user-level thread, and the worker goes on with other work.
///
/// Where the policy watches tasks (policy_wants::spawns or roots), the job gets its thread when it is submitted, since
/// what the policy keeps of a task lies in there.
class job : detail::job {
 public:
  /// Called on a user-level thread, on any worker. The job may be destroyed, or submitted again, as soon as this has
  /// been called; nothing of heddle touches it after that.
  using function = void (*)(job& self) noexcept;

  explicit job(function run) noexcept : detail::job(detail::run_submitted), run_(run) {}
  job(const job&) = delete;
  job& operator=(const job&) = delete;

 private:
  friend struct detail::submitted;

  function run_;
  const void* label_{nullptr};  // written by submit
  job* next_{nullptr};          // link of a runtime's queue of jobs
};
static_assert(sizeof(job) == 32);

/// Hands `work` over: from now on a worker of the caller's runtime may begin it; of the global one if the caller is a
/// foreign kernel thread. A user-level thread's job goes into its worker's queue, as a fork does, and the newest one is
/// begun first; any other job goes into a queue that all workers share, and the oldest one is begun first. The runtime
/// waits for all its jobs before it ends. Nobody else is told of a job's end but by the job's own function.
///
/// Throws std::invalid_argument for a level that does not exist; the job is not submitted then. Thread context: any, a
/// function of a policy and a poller included. Where the policy watches tasks the caller may suspend and migrate: the
/// policy may want the job to run first.
HEDDLE_API void submit(job& work, const task_info& info = {});

}  // namespace heddle

// The part of a runtime that is an arena: its workers have no kernel threads of their own, and workers of another
// runtime, the outer one, carry them ([arena:1] to [arena:6] of arenas.md). Owns the drivers of the arena's workers,
// and the count of its jobs. Promise: a worker of an arena that a wake-up was sent to is carried by the next worker of
// the outer runtime that may and that has nothing else to do.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <heddle/detail/fork_queue.hpp>
#include <heddle/detail/wait.hpp>

namespace heddle::worker {

class arena;
class runtime;
class worker;

// The settings of an arena, decided before it begins.
struct arena_plan {
  runtime* outer{nullptr};  // or null, if the runtime is no arena
  unsigned places{0};
  int level{0};
  std::shared_ptr<const std::vector<bool>> allowed{};  // by rank of the outer runtime, or null for all its workers
};

// Carries one worker of an arena, as a job of the outer runtime: it runs the worker's run loop on the stack of a thread
// there. Owned by whoever sent the worker a wake-up, then by the outer runtime's list, then by the worker that took it.
struct driver : detail::job {
  driver(arena& owner, worker& its) noexcept : job(drive), of(owner), carried(its) {}
  static void drive(detail::job* self) noexcept;

  arena& of;
  worker& carried;
  worker* beneath{nullptr};  // the worker of the outer runtime, while it carries
  driver* next{nullptr};     // link of the outer runtime's list
};

class arena {
 public:
  arena(runtime& inner, const arena_plan& plan) noexcept : inner_(inner), plan_(plan) {}
  ~arena();

  // The workers are made: each of them rests.
  void begin();
  // The destructor's: no job is left and nobody sends wake-ups. Every worker rests when this returns.
  void await_rest() noexcept;

  // A wake-up was sent to a worker that rested, or one leaves with work left. The driver's worker may be carried by
  // another kernel thread, and the arena may be gone, when this returns.
  void want(driver& of) noexcept;
  // The worker that carries `of` has other things to do, [arena:5]. By the kernel thread that carries.
  [[nodiscard]] bool must_leave(const driver& of) const noexcept;

  const arena_plan& plan() const noexcept { return plan_; }

  // Jobs that were submitted to the arena and have not ended.
  void job_begins() noexcept { jobs_.fetch_add(1); }
  void job_ends() noexcept;
  // By a thread that is not the arena's.
  void wait_for_jobs() noexcept;

 private:
  runtime& inner_;
  const arena_plan plan_;
  std::vector<std::unique_ptr<driver>> drivers_;
  std::atomic<std::uint64_t> wanted_{0};  // calls of want
  std::atomic<std::int64_t> jobs_{0};
  detail::spin_word lock_;
  detail::waiter_list waiters_;  // under lock_: for jobs_ to become 0
};

}  // namespace heddle::worker

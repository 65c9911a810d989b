// An OpenMP thread: what a member of a team knows of itself. Member 0 of a region's team is the thread that encountered
// the region, be it a foreign kernel thread (main, a pthread), which goes on on its own stack and storage and never
// becomes a user-level thread, or a member of another team. All other members are user-level threads with thread-local
// storage of their own, kept with the team from region to region.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "omp/core/settings/statistics.hpp"
#include "omp/core/tasks/task.hpp"
#include "omp/core/tasks/task_block.hpp"
#include "omp/core/tasks/task_queue.hpp"
#include "omp/core/teams/parker.hpp"
#include "omp/core/teams/work_share.hpp"
#include "omp/ompt/recording.hpp"
#include "omp/ompt/state.hpp"
#include "omp/seam.hpp"

namespace heddle::omp {

struct team;
class thread;
struct thread_privates;  // threadprivate.hpp

// What a region executes on each member: both ABIs' outlined functions behind one call.
struct region_body {
  void (*call)(void* data, thread& self);
  void* data;
};

class thread {
 public:
  // Makes the descriptor of a foreign kernel thread, or of a user-level thread of the program's own, at its first call:
  // it is the initial thread of a contention group then, with a team of its own alone.
  static thread& current() noexcept {
    thread* self = current_slot.get();
    if (self == nullptr) [[unlikely]]
      self = &adopt();
    return *self;
  }
  static thread* current_or_null() noexcept { return current_slot.get(); }
  // The thread of that number, live or not; null: there was none yet. A descriptor is never freed, and has the same
  // number for ever, so a wake-up that comes late finds a descriptor ([thread:1]).
  static thread* of(int global_number) noexcept;
  // A descriptor for a thread that is about to be made.
  static thread& make();
  // The thread has ended, and so have the teams that it led.
  static void drop(thread& t) noexcept;

  // --- the line that a member and its leader share
  // A member: how many regions it was given; written by its leader, publishes what the region is.
  alignas(64) std::atomic<std::uint32_t> go{0};
  std::atomic<bool> stops{false};  // `go` was raised to end it
  region_body given{};             // with `go`
  bool is_in_gang{false};          // with `go`: its leader has taken it into the region's gang
  class parker parker;             // where it sleeps, whatever it waits for

  // --- its own
  // Where it is: changed when it enters and leaves a region, by itself.
  alignas(64) team* in{nullptr};
  unsigned number{0};      // omp_get_thread_num()
  int global_number{0};    // the gtid of the LLVM ABI: unique among live threads, small
  task* running{nullptr};  // the innermost task: its implicit one, or an explicit one that it runs

  work_cursor work;  // how far it is among the team's work-sharing constructs

  // Clauses of the region that it encounters next (__kmpc_push_num_threads and its kin); 0 and no: none were given.
  struct clauses {
    int threads{0};
    int teams{0};
    int teams_threads{0};
    int bind{-1};
    const std::vector<int>* list{nullptr};  // of num_threads, whose first element is `threads`
  } next;

  // Teams that it has led, one for each depth of nesting, kept with their members for its next regions; and where the
  // one for the region that it encounters next is kept.
  team* kept{nullptr};
  team** kept_at{&kept};
  team* root{nullptr};                    // of an initial thread: the team of its implicit parallel region
  thread_privates* privates{nullptr};     // __kmpc_threadprivate_cached
  bool counts{false};                     // among those of `active_count`
  std::optional<heddle::thread> fiber{};  // a member's, for its leader
  int bound{-1};                          // the place that it is bound to in fact; -1: to none
  int placed{-1};                         // a member: the place that it was made for
  bool preemptive{false};                 // a member: it was made so

  thread_tasks tasks;  // its free blocks
  thread_counts did;   // since the process began, whoever had the number

  ompt::thread_record tool;
  recording::thread_record recorded;
  // The worker that it was on when it last made or looked for a task that the policy places. A hint, for who has taken
  // a task for it.
  std::atomic<unsigned> rank{~0u};

 private:
  static thread& adopt() noexcept;
};

// Whether some thread of the process has led a team: no counts before.
void count_in(thread& self) noexcept;

}  // namespace heddle::omp

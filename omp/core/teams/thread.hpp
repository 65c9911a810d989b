// An OpenMP thread: the state that a member of a team has of itself. Member 0 of a region's team is the thread that
// encountered the region. It may be a foreign kernel thread (main, a pthread), which goes on on its own stack and
// storage and never becomes a user-level thread, or a member of another team. All other members are user-level threads
// with thread-local storage of their own, kept with the team from region to region.
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

// The code that a region executes on each member: the outlined functions of both ABIs behind one call.
struct region_body {
  void (*call)(void* data, thread& self);
  void* data;
};

class thread {
 public:
  // At its first call by a foreign kernel thread, or by a user-level thread of the program's own, makes the thread's
  // descriptor. The thread is then the initial thread of a contention group, with a team of its own alone.
  static thread& current() noexcept {
    thread* self = current_slot.get();
    if (self == nullptr) [[unlikely]]
      self = &adopt();
    return *self;
  }
  static thread* current_or_null() noexcept { return current_slot.get(); }
  // The thread of that number, live or not; null if there was none yet. A descriptor is never freed, and has the same
  // number for ever, so a wake-up that comes late finds a descriptor ([thread:1]).
  static thread* of(int global_number) noexcept;
  // A descriptor for a thread that is about to be made.
  static thread& make();
  // Called when the thread has ended, and so have the teams that it led.
  static void drop(thread& t) noexcept;

  // --- the line that a member and its leader share
  // For a member: the number of regions that it was given. Written by its leader; publishes the region's description.
  alignas(64) std::atomic<std::uint32_t> go{0};
  std::atomic<bool> stops{false};  // `go` was raised to end it
  region_body given{};             // with `go`
  bool is_in_gang{false};          // with `go`: its leader has taken it into the region's gang
  class parker parker;             // the object on which it sleeps, whatever it waits for

  // --- for the thread itself
  // The team in which it is. The thread changes this itself when it enters and leaves a region.
  alignas(64) team* in{nullptr};
  unsigned number{0};      // omp_get_thread_num()
  int global_number{0};    // the gtid of the LLVM ABI: small, and unique among live threads
  task* running{nullptr};  // the innermost task: its implicit one, or an explicit one that it runs

  work_cursor work;  // its progress among the team's work-sharing constructs

  // Clauses of the region that it encounters next (__kmpc_push_num_threads and similar functions); 0 and no if none
  // were given.
  struct clauses {
    int threads{0};
    int teams{0};
    int teams_threads{0};
    int bind{-1};
    // The list of num_threads, whose first element is `threads`.
    const std::vector<int>* list{nullptr};
  } next;

  // The teams that it has led, one for each depth of nesting, kept with their members for its next regions. kept_at is
  // the place where the team for the region that it encounters next is kept.
  team* kept{nullptr};
  team** kept_at{&kept};
  // For a user-level thread of the program's own: its runtime, at whose end the teams end that it has kept.
  std::atomic<heddle::runtime*> home{nullptr};
  team* root{nullptr};                    // for an initial thread: the team of its implicit parallel region
  thread_privates* privates{nullptr};     // __kmpc_threadprivate_cached
  bool counts{false};                     // whether it is among those of `active_count`
  std::optional<heddle::thread> fiber{};  // a member's; its leader uses it
  int bound{-1};                          // the place to which it is actually bound; -1 if to none
  int placed{-1};                         // for a member: the place for which it was made
  bool preemptive{false};                 // for a member: whether it was made preemptive

  thread_tasks tasks;  // its free blocks
  thread_counts did;   // counted since the process began, for all threads that had the number

  ompt::thread_record tool;
  recording::thread_record recorded;
  // The worker that it was on when it last made or looked for a task that the policy places. A hint, for who has taken
  // a task for it.
  std::atomic<unsigned> rank{~0u};

 private:
  static thread& adopt() noexcept;
  static void end_adopted(heddle::runtime& home) noexcept;
};

// Counts the thread among those of `active_count`. Called when it first leads a team of several; no thread counts
// before.
void count_in(thread& self) noexcept;

}  // namespace heddle::omp

// An OpenMP thread: what a member of a team knows of itself. Member 0 of a region's team is the thread that encountered
// the region, be it a foreign kernel thread (main, a pthread), which goes on on its own stack and storage and never
// becomes a user-level thread, or a member of another team. All other members are user-level threads with thread-local
// storage of their own, kept with the team from region to region.
#pragma once

#include <atomic>
#include <cstdint>

#include "omp/core/parking.hpp"
#include "omp/core/task.hpp"
#include "omp/core/task_queue.hpp"
#include "omp/core/work_share.hpp"
#include "omp/seam.hpp"

namespace heddle::omp {

struct team;

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

  // Where it is: changed when it enters and leaves a region, by itself.
  team* in{nullptr};
  unsigned number{0};      // omp_get_thread_num()
  task* running{nullptr};  // the innermost task: its implicit one, or an explicit one that it runs
  int global_number{0};    // the gtid of the LLVM ABI: unique among live threads, small

  work_cursor work;  // its place among the team's work-sharing constructs
  task_queue tasks;  // those that it has made and nobody has begun
  parking parked;    // where it sleeps, whatever it waits for

  // Clauses of the region that it encounters next (__kmpc_push_num_threads and its kin); 0 and no: none were given.
  struct {
    int threads{0};
    int teams{0};
    int teams_threads{0};
    int bind{-1};
  } next;

  // Teams that it has led, kept with their members for its next regions.
  team* kept{nullptr};
  void* tool{nullptr};  // ompt_data_t of tools

 private:
  static thread& adopt() noexcept;
};

}  // namespace heddle::omp

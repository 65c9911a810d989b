#include "omp/core/teams/barrier.hpp"

#include "omp/core/tasks/taskwait.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

// Ends the phase if all have arrived and no task is left ([barrier:2]). Returns true if this call ended it.
bool team_barrier::try_to_end(team& t, unsigned size) noexcept {
  // A task's end is counted by a plain store. Either the thread that ended the task sees the last arrival here, or this
  // thread sees the end ([omp_task:8]). relaxed: the last thread to arrive sees the flag, because the maker of the
  // first task set it before arriving.
  if (t.tasked.load(std::memory_order_relaxed)) std::atomic_thread_fence(std::memory_order_seq_cst);
  std::uint64_t word = word_.load();
  if (arrived_of(word) != size) return false;
  if (t.tasked.load() && t.tasks.unfinished()) return false;
  return word_.compare_exchange_strong(word, (word & ~(one_phase - 1)) + one_phase);
}

bool team_barrier::wait(thread& self, team& t, bool cancellable) {
  const std::uint64_t before = word_.fetch_add(1);
  const std::uint32_t phase = phase_of(before);
  const bool at_end = this == &t.joined;
  if (arrived_of(before) + 1 == t.size && try_to_end(t, t.size)) {
    if (!at_end && t.size > 1) t.wake_all();
  } else {
    for (;;) {
      park_for_task(
          self, nullptr,
          [&] {
            // acquire pairs with try_to_end: makes visible what all members did before they arrived
            if (phase_of(word_.load(std::memory_order_acquire)) != phase) return true;
            // relaxed: this thread was woken after it was set
            return cancellable && t.cancelled.load(std::memory_order_relaxed);
          },
          [] {}, [] { return true; });
      if (phase_of(word_.load(std::memory_order_acquire)) != phase) break;  // as above
      if (cancellable && t.cancelled.load()) return true;
      if (!run_one(self, nullptr)) heddle::detail::yield();
      if (try_to_end(t, t.size)) {
        if (!at_end) t.wake_all();
        break;
      }
    }
  }
  if (at_end)  // seq_cst: [barrier:6]
    while (helpers_.load() != 0) heddle::detail::yield();
  return cancellable && t.cancelled.load(std::memory_order_relaxed);
}

std::uint32_t team_barrier::arrive(team& t) {
  // From the arrival on the team may begin its next region, and change.
  thread& first = *t.leader;
  const std::uint32_t size = t.size;
  const std::uint64_t before = word_.fetch_add(1);
  if (arrived_of(before) + 1 != size) return phase_of(before);
  // This is the last arrival. Nothing has begun before the phase ends, and without tasks this call ends it.
  try_to_end(t, size);
  first.parker.wake();
  return phase_of(before);
}

bool team_barrier::help(thread& self, team& t, std::uint32_t phase) {
  thread& first = *t.leader;
  helpers_.fetch_add(1);
  // seq_cst: either this look sees the phase's end, or member 0 sees the helper ([barrier:6])
  const bool under_way = phase_of(word_.load()) == phase;
  bool found = false;
  bool last = false;
  if (under_way) {
    found = run_one(self, nullptr);
    last = try_to_end(t, t.size);
  }
  helpers_.fetch_sub(1);
  if (last) first.parker.wake();
  return found;
}

void team_barrier::tasks_ended(team& t) noexcept {
  if (!try_to_end(t, t.size)) return;
  if (this == &t.joined) t.leader->parker.wake();
  else t.wake_all();
}

void team_barrier::forget_arrivals() noexcept {
  // relaxed: published with the region
  word_.store(word_.load(std::memory_order_relaxed) & ~(one_phase - 1), std::memory_order_relaxed);
}

}  // namespace heddle::omp

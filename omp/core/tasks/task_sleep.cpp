// Who sleeps where it could run tasks, and who is woken when there are some: [omp_task:8].
#include <mutex>
#include <new>

#include "omp/core/tasks/task_queue.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

namespace {

// Slow pushes that cost about as much as one heavy fence.
constexpr unsigned pushes_for_a_heavy_fence = 256;

}  // namespace

void team_tasks::enlist(task_sleeper& who, member_tasks* mine) noexcept {
  {
    const std::lock_guard hold(sleepers_guard_);
    who.woken.store(false, std::memory_order_relaxed);  // under the lock
    who.previous = nullptr;
    who.next = first_sleeper_;
    if (first_sleeper_ != nullptr) first_sleeper_->previous = &who;
    first_sleeper_ = &who;
    sleeping_.fetch_add(1);
  }
  // relaxed: the caller's own, as the queue is
  if (mine != nullptr && !mine->quiet.load(std::memory_order_relaxed) && !queue::has_any(mine->queue)) {
    queue::stand(mine->queue);
    mine->quiet.store(true);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  bool loud = false;
  const unsigned size = size_.load(std::memory_order_acquire);  // pairs with prepare
  for (unsigned i = 0; i < size; ++i) {
    member_tasks* const m = member(i);
    if (m == nullptr || m == mine || m->quiet.load()) continue;
    m->wary.store(pushes_for_a_heavy_fence, std::memory_order_relaxed);  // a hint
    queue::request_anew(m->queue);
    loud = true;
  }
  if (loud) heddle::detail::heavy_fence();
}

void team_tasks::remove(task_sleeper& who) noexcept {
  (who.previous != nullptr ? who.previous->next : first_sleeper_) = who.next;
  if (who.next != nullptr) who.next->previous = who.previous;
  sleeping_.fetch_sub(1);
}

void team_tasks::dismiss(task_sleeper& who) noexcept {
  const std::lock_guard hold(sleepers_guard_);
  if (!who.woken.load(std::memory_order_relaxed)) remove(who);  // under the lock
}

void team_tasks::forget_sleepers() noexcept {
  if (sleeping_.load(std::memory_order_relaxed) == 0) return;  // who comes later sees that the region is over
  const std::lock_guard hold(sleepers_guard_);
  while (first_sleeper_ != nullptr) {
    task_sleeper& s = *first_sleeper_;
    remove(s);
    s.woken.store(true);  // it takes the lock before it goes away
  }
}

void team_tasks::after_fork() noexcept {
  new (&sleepers_guard_) short_lock;
  first_sleeper_ = nullptr;
  sleeping_.store(0, std::memory_order_relaxed);  // the child has one thread
  new (&shared_guard_) short_lock;
}

// One that may run everything rather than one that waits for descendants of its own.
thread* team_tasks::choose(const task* parent) noexcept {
  const std::lock_guard hold(sleepers_guard_);
  task_sleeper* best = nullptr;
  for (task_sleeper* s = first_sleeper_; s != nullptr; s = s->next) {
    if (s->under == nullptr) {
      best = s;
      break;
    }
    if (best == nullptr && descends(*parent, *s->under)) best = s;
  }
  if (best == nullptr) return nullptr;
  remove(*best);
  thread* const chosen = best->who;
  best->woken.store(true);  // it takes the lock before it goes away
  return chosen;
}

void team_tasks::wake_for(const task* parent) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // [omp_task:8]
  if (sleeping_.load() == 0) return;
  thread* const chosen = choose(parent);
  if (chosen != nullptr) chosen->parked.wake();
}

}  // namespace heddle::omp

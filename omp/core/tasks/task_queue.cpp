#include "omp/core/tasks/task_queue.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <mutex>

#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

using heddle::detail::entry;
using heddle::detail::slot;

namespace {

explicit_task* task_of(entry item) noexcept { return reinterpret_cast<explicit_task*>(item); }

// The number of looks in vain before a thief takes a task without the owner's help, which costs a heavy fence.
constexpr unsigned patience = 200;

constexpr std::size_t capacity = 4096;

}  // namespace

member_tasks::member_tasks(thread& who, team& whose)
    : owner(&who), in(&whose), victims_are(process_environment().victims), random(who.number) {
  const std::optional<bool>& throttling = process_environment().task_throttling;
  defers_all = throttling.has_value() && !*throttling;
  // libgomp has as many for each thread. It is enough for some tasks to be left when the threads have drained others.
  constexpr std::ptrdiff_t any = std::numeric_limits<std::ptrdiff_t>::max();
  const int workers = process_environment().workers;
  enough[0] = defers_all ? any : std::clamp<std::ptrdiff_t>(64 * workers, 256, capacity / 2);
  enough[1] = defers_all ? any : std::clamp<std::ptrdiff_t>(2 * workers, 4, 64);
  slots_.reset(new slot[queue::slots_for(capacity)]{});
  queue::attach(queue, slots_.get(), capacity);
  queue::stand(queue);  // [omp_task:7]
}

void team_tasks::await_outside() const noexcept {
  while (outside.load() != 0) heddle::detail::yield();
}

team_tasks::~team_tasks() {
  await_outside();
  for (unsigned i = 0; i < room_; ++i) delete member(i);  // no other thread is there
}

void team_tasks::prepare(unsigned members) {
  await_outside();
  forget_sleepers();
  const unsigned room = room_.load(std::memory_order_relaxed);  // relaxed: own variable
  if (members > room) {
    std::unique_ptr<std::atomic<member_tasks*>[]> more(new std::atomic<member_tasks*>[members] {});
    // relaxed: published below
    for (unsigned i = 0; i < room; ++i) more[i].store(member(i), std::memory_order_relaxed);
    arrays_.push_back(std::move(more));
    members_.store(arrays_.back().get(), std::memory_order_release);  // pairs with member: publishes the array
    room_.store(members, std::memory_order_release);                  // pairs with unfinished
  }
  // Stored only when it changes, because threads that look for tasks read this line again and again.
  if (size_.load(std::memory_order_relaxed) != members)  // relaxed: this thread alone writes it
    size_.store(members, std::memory_order_release);     // pairs with the loops below: the array has room for them
}

member_tasks& team_tasks::of(thread& self) {
  member_tasks* it = member(self.number);
  if (it == nullptr) {
    it = new member_tasks(self, *self.in);
    // release pairs with member: publishes the queue
    members_.load(std::memory_order_relaxed)[self.number].store(it, std::memory_order_release);
  } else if (it->owner != &self) {
    // Published with the tasks that it makes; all earlier tasks have ended.
    it->owner = &self;
  }
  // relaxed: if another member has set it, that member wakes those that sleep without being listed
  if (!self.in->tasked.load(std::memory_order_relaxed)) {
    self.in->tasked.store(true);
    if (self.in->size > 1) self.in->wake_all();  // [omp_task:8]
  }
  return *it;
}

// [omp_task:4] The ends are read first. A task whose end is seen was made before, and the tasks that it made are seen
// in the second round.
bool team_tasks::unfinished() const noexcept {
  // Of two members that have ended tasks and look, at least the one with the later fence sees both ends.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  // The loop covers all member tasks that have ever existed: counts go on from region to region, and one member may
  // have ended what another has made.
  const unsigned size = room_.load(std::memory_order_acquire);  // pairs with prepare
  // acquire pairs with end_outside: what the tasks have made
  std::uint64_t ended = ended_outside.load(std::memory_order_acquire);
  for (unsigned i = 0; i < size; ++i) {
    const member_tasks* m = member(i);
    if (m != nullptr) ended += m->ended.load(std::memory_order_acquire);  // pairs with count_ended
  }
  std::uint64_t made = 0;
  for (unsigned i = 0; i < size; ++i) {
    const member_tasks* m = member(i);
    if (m != nullptr) made += m->made.load(std::memory_order_relaxed);  // relaxed: ordered by the acquires above
  }
  return made != ended;
}

// `it` is touched only while it is not in the queue. Its parent cannot be freed.
bool team_tasks::push_slow(member_tasks& mine, explicit_task& it, const task& parent, slot* position) noexcept {
  // [omp_task:8]: before the fence below. Stored only if it changes, because threads that end this member's tasks
  // elsewhere read that line.
  if (mine.unannounced.load(std::memory_order_relaxed)) mine.unannounced.store(false, std::memory_order_relaxed);
  queue::slow_outcome outcome = queue::push(mine.queue, position);
  if (!outcome.done) {
    if (queue::has_any(mine.queue)) {
      if (!mine.defers_all) return false;
      share(it);
      return true;
    }
    // All queued tasks have been stolen. The pop that finds this out lets the queue begin anew.
    bool published = false;
    if (queue::take_newest(mine.queue, published) != 0) std::abort();          // [queue:6]: it was empty
    position = mine.queue.bottom.load(std::memory_order_relaxed);              // own variable
    position->store(reinterpret_cast<entry>(&it), std::memory_order_relaxed);  // published by the next store
    mine.queue.bottom.store(position + 1, std::memory_order_release);          // pairs with force_steal
    outcome = queue::push(mine.queue, position);
    if (!outcome.done) return false;
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);  // [omp_task:8]
  const bool someone_sleeps = sleeping_.load() != 0;
  if (someone_sleeps) wake_for(&parent);
  keep_unannounced_if_useful(mine, someone_sleeps);
  return true;
}

void team_tasks::keep_unannounced_if_useful(member_tasks& mine, bool someone_slept) noexcept {
  const unsigned wary = mine.wary.load(std::memory_order_relaxed);  // relaxed: a hint, as its store
  if (wary == 0 && !someone_slept) return;
  if (wary != 0) mine.wary.store(wary - 1, std::memory_order_relaxed);
  queue::stand(mine.queue);
  mine.unannounced.store(true);
}

bool team_tasks::pop_slow(member_tasks& mine, slot* position) noexcept {
  // The request may fall, so a thread that lists itself meanwhile must not rely on it, as in push_slow.
  const bool was_unannounced = mine.unannounced.load(std::memory_order_relaxed);
  if (was_unannounced) mine.unannounced.store(false, std::memory_order_relaxed);
  const queue::slow_outcome outcome = queue::pop(mine.queue, position);
  if (outcome.published) wake_for(mine.owner->running);
  if (was_unannounced) {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // [omp_task:8]
    keep_unannounced_if_useful(mine, sleeping_.load() != 0);
  }
  return outcome.done;
}

void team_tasks::share(explicit_task& it) noexcept {
  thread* chosen = nullptr;
  {
    const std::lock_guard hold(shared_guard_);
    explicit_task** link = &first_shared_;
    if (last_shared_ != nullptr && last_shared_->priority >= it.priority) link = &last_shared_->next;
    while (*link != nullptr && (*link)->priority >= it.priority) link = &(*link)->next;
    it.next = *link;
    *link = &it;
    if (it.next == nullptr) last_shared_ = &it;
    shared_.fetch_add(1);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // [omp_task:8]
    // With the lock held, because then no other thread can take the task, and its parent stays.
    if (sleeping_.load() != 0) chosen = choose(it.parent);
  }
  if (chosen != nullptr) chosen->parker.wake();
}

void team_tasks::hand_over(member_tasks& mine) noexcept {
  while (mine.queue.bottom.load(std::memory_order_relaxed) != mine.queue.base)  // own variable
    if (explicit_task* const it = newest(mine, nullptr); it != nullptr) share(*it);
}

explicit_task* team_tasks::take_shared(const task* under) noexcept {
  const std::lock_guard hold(shared_guard_);
  explicit_task* before = nullptr;
  for (explicit_task** link = &first_shared_; *link != nullptr; link = &(*link)->next) {
    explicit_task* const it = *link;
    if (under != nullptr && !descends(*it, *under)) {
      before = it;
      continue;
    }
    *link = it->next;
    if (it == last_shared_) last_shared_ = before;
    shared_.fetch_sub(1);
    return it;
  }
  return nullptr;
}

explicit_task* team_tasks::steal_from(member_tasks& mine, member_tasks& victim, const task* under) noexcept {
  // relaxed: a hint, which is checked again when the task has been taken
  explicit_task* const oldest = task_of(queue::oldest(victim.queue));
  if (oldest == nullptr || (under != nullptr && !may_descend(*oldest, *under))) return nullptr;
  entry item = 0;
  bool left = true;
  if (queue::has_public(victim.queue)) {
    item = queue::steal(victim.queue, left);
  } else if (mine.hungry_looks >= patience) {
    mine.hungry_looks = 0;
    item = queue::force_steal(victim.queue, heddle::detail::heavy_fence);
  } else {
    queue::request(victim.queue);
  }
  if (item == 0) return nullptr;
  if (!left) queue::request(victim.queue);  // in advance: [request:6]
  explicit_task* const it = task_of(item);
  if (under == nullptr || descends(*it, *under)) return it;
  share(*it);
  return nullptr;
}

// Goes round all other members, beginning where the rule says. A round counts as one attempt. It counts as none if it
// is in vain though the member that came first has tasks, because they are not public yet and the member has been
// asked.
explicit_task* team_tasks::steal(member_tasks& mine, const task* under) noexcept {
  const unsigned size = size_.load(std::memory_order_acquire);  // pairs with prepare
  if (size < 2) return nullptr;
  const auto next = [size](unsigned number) { return number + 1 < size ? number + 1 : 0; };
  unsigned first = mine.past.first();
  if (first >= size) first = mine.random.below(size);
  if (member(first) == &mine) first = next(first);
  for (unsigned i = 0, number = first; i < size; ++i, number = next(number)) {
    member_tasks* const victim = member(number);
    if (victim == nullptr || victim == &mine) continue;
    explicit_task* const it = steal_from(mine, *victim, under);
    if (it == nullptr) continue;
    mine.past.succeeded(number, mine.victims_are);
    mine.owner->did.steals.add();
    if (ompt::on()) [[unlikely]]
      recording::stolen(*mine.owner, *victim->owner, *it);
    return it;
  }
  const member_tasks* const asked = member(first);
  if (asked == nullptr || !queue::has_any(asked->queue)) mine.past.failed();
  return nullptr;
}

explicit_task* team_tasks::find(member_tasks& mine, const task* under) noexcept {
  explicit_task* it = nullptr;
  if (shared_.load(std::memory_order_relaxed) != 0) it = take_shared(under);  // a hint; enlist looks again
  if (it == nullptr && placing::on()) it = placing::take(mine, under);
  if (it == nullptr) it = newest(mine, under);
  if (it == nullptr) it = steal(mine, under);
  if (it != nullptr) mine.hungry_looks = 0;
  else ++mine.hungry_looks;
  return it;
}

bool team_tasks::may_find(const member_tasks* mine, const task* under) const noexcept {
  if (shared_.load() != 0) {
    const std::lock_guard hold(shared_guard_);
    for (const explicit_task* it = first_shared_; it != nullptr; it = it->next)
      if (under == nullptr || descends(*it, *under)) return true;
  }
  if (placing::on() && mine != nullptr && placing::may_find(*mine)) return true;
  const unsigned size = size_.load(std::memory_order_acquire);  // pairs with prepare
  for (unsigned i = 0; i < size; ++i) {
    const member_tasks* const m = member(i);
    if (m == nullptr || !queue::has_any(m->queue)) continue;
    if (m == mine) {
      const slot* const last = m->queue.bottom.load(std::memory_order_relaxed) - 1;  // own variable
      if (under == nullptr || may_descend(*task_of(last->load(std::memory_order_relaxed)), *under)) return true;
      continue;
    }
    const explicit_task* const oldest = task_of(queue::oldest(m->queue));
    if (oldest != nullptr && (under == nullptr || may_descend(*oldest, *under))) return true;
  }
  return false;
}

}  // namespace heddle::omp

#include "omp/core/tasks/placing.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <system_error>

#include "omp/core/settings/environment.hpp"
#include "omp/core/tasks/task_block.hpp"
#include "omp/core/tasks/task_queue.hpp"
#include "omp/core/teams/member_kind.hpp"
#include "omp/core/teams/members.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/team_gang.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp::placing {

namespace {

using heddle::detail::placed_children;

// After so many looks in vain private entries of other workers are taken, too.
constexpr unsigned patience = 200;

explicit_task& task_in(placed_task& p) noexcept { return *static_cast<explicit_task*>(p.owner); }

// Returns the children of the task `t` as the policy knows them, and writes to `by` what it knows the task as. A task
// that ran where it was made is a part of its maker to the policy. An implicit task is known as its thread, and `by`
// becomes null.
placed_children& children_of(task& t, policy::task*& by) noexcept {
  task* it = &t;
  while (it->is_explicit) {
    placed_task& p = placed_of(static_cast<explicit_task&>(*it));
    if (p.counted_by != nullptr) {
      by = &p.scheduling;
      return p.children;
    }
    it = it->parent;
  }
  by = nullptr;
  return static_cast<implicit_task*>(it)->placed;
}

// Its own, if the policy knows it; null for one that is a part of its maker.
placed_children* own_children_of(task& t, policy::task*& by) noexcept {
  if (t.is_explicit && placed_of(static_cast<explicit_task&>(t)).counted_by == nullptr) return nullptr;
  return &children_of(t, by);
}

// On a worker that has taken the task, where no member looked for one.
void hand_over(heddle::detail::job* work) noexcept {
  explicit_task& it = task_in(placed_task::of(work));
  team& t = *it.in;
  const unsigned rank = heddle::detail::current_rank();
  for (unsigned i = 0; i < t.size; ++i) {
    thread& member = *t.members[i];
    if (member.rank.load(std::memory_order_relaxed) != rank) continue;  // a hint: any member may have the task
    member_tasks* const place = t.tasks.known(i);
    if (place == nullptr || !place->given.give(it)) break;
    member.parker.wake();
    return;
  }
  t.tasks.share(it);
}

struct led_region {
  thread& self;
  const region_options& how;
  const region_body& body;
};

void lead_here(void* data) noexcept {
  const led_region& what = *static_cast<led_region*>(data);
  const heddle::thread_slot<thread>::scope bound(current_slot, &what.self);
  begin_region(what.self, what.how, what.body);
  what.body.call(what.body.data, what.self);
  end_region(what.self);
}

}  // namespace

bool begin() noexcept {
  const char* const asked = std::getenv("HEDDLE_POLICY");
  if (asked == nullptr || *asked == '\0' || std::strcmp(asked, "random_ws") == 0) return false;
  if (!heddle::detail::places_tasks()) return false;
  is_on.store(true, std::memory_order_relaxed);  // published by ompt::find_out
  return true;
}

placed_task& placed_of(explicit_task& it) noexcept {
  auto* const block = reinterpret_cast<std::byte*>(&it);
  return *reinterpret_cast<placed_task*>(block + block_sizes[it.block_class] - room);
}

void prepare(explicit_task& it) noexcept {
  auto* const at = reinterpret_cast<std::byte*>(&it) + block_sizes[it.block_class] - room;
  auto* const made = new (at) placed_task(hand_over);
  made->owner = &it;
}

void mailbox::open(const task* under) noexcept {
  const std::lock_guard hold(guard_);
  is_open_ = true;
  under_ = under;
}

void mailbox::close() noexcept {
  const std::lock_guard hold(guard_);
  is_open_ = false;
}

bool mailbox::give(explicit_task& it) noexcept {
  const std::lock_guard hold(guard_);
  if (!is_open_ || (under_ != nullptr && !descends(it, *under_))) return false;
  it.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &it;
  last_ = &it;
  count_.fetch_add(1);
  return true;
}

explicit_task* mailbox::take() noexcept {
  if (looks_empty()) return nullptr;
  const std::lock_guard hold(guard_);
  explicit_task* const it = first_;
  if (it == nullptr) return nullptr;
  first_ = it->next;
  if (first_ == nullptr) last_ = nullptr;
  count_.fetch_sub(1);
  return it;
}

bool push(member_tasks& mine, explicit_task& it) noexcept {
  thread& self = *mine.owner;
  if (!is_user_level()) {  // it has no worker
    self.in->tasks.share(it);
    return true;
  }
  placed_task& p = placed_of(it);
  policy::task* by = nullptr;
  // The running task counts as the maker, also of a task that has become ready by a dependence, because the policy must
  // be told of a maker on the maker's own thread.
  placed_children& maker = children_of(*self.running, by);
  it.make_intricate();                                                         // its end tells the policy
  self.rank.store(heddle::detail::current_rank(), std::memory_order_relaxed);  // a hint
  return heddle::detail::place_task(p, maker, by, it.tool.frame.enter_frame.ptr);
}

explicit_task* take(member_tasks& mine, const task* under) noexcept {
  thread& self = *mine.owner;
  if (explicit_task* const it = mine.given.take(); it != nullptr) {
    if (under == nullptr || descends(*it, *under)) return it;
    self.in->tasks.share(*it);
    return nullptr;
  }
  self.rank.store(heddle::detail::current_rank(), std::memory_order_relaxed);  // a hint
  placed_task* const found = heddle::detail::take_placed_task(mine.hungry_looks >= patience);
  if (mine.hungry_looks >= patience) mine.hungry_looks = 0;
  if (found == nullptr) return nullptr;
  explicit_task& it = task_in(*found);
  // [omp_task:6]
  if (it.in == self.in && (under == nullptr || descends(it, *under))) return &it;
  it.in->tasks.share(it);
  return nullptr;
}

bool may_find(const member_tasks& mine) noexcept {
  return !mine.given.looks_empty() || heddle::detail::may_find_placed_task();
}

void leave_to_others(thread& self) noexcept {
  member_tasks* const mine = self.running->home;
  while (explicit_task* const it = mine != nullptr ? mine->given.take() : nullptr) self.in->tasks.share(*it);
}

void children_wait(thread& self) noexcept {
  policy::task* by = nullptr;
  if (placed_children* const of = own_children_of(*self.running, by); of != nullptr)
    heddle::detail::placed_children_wait(*of, by);
}

void children_go_on(thread& self) noexcept {
  policy::task* by = nullptr;
  if (placed_children* const of = own_children_of(*self.running, by); of != nullptr)
    heddle::detail::placed_children_go_on(*of, by);
}

void ended(explicit_task& it) noexcept {
  placed_task& p = placed_of(it);
  if (p.counted_by == nullptr) return;
  heddle::detail::placed_task_ended(p);
  p.counted_by = nullptr;
}

bool lead(thread& self, const region_options& how, const region_body& body) {
  led_region all{self, how, body};
  const bool crowded = threads_for(self, how) > heddle::runtime::current().workers();
  const bool preemptive =
      preempting() == preempt_members::on ||
      (preempting() == preempt_members::automatic && (crowded || gangs_may_come(*self.running->variables)));
  team* const kept = *self.kept_at;
  // Members were not made preemptive for smaller regions; here they share their workers.
  if (preemptive && kept != nullptr && kept->manned > 1 && !kept->members[1]->preemptive) dismiss(*kept);
  heddle::thread_options options;
  options.name = "OpenMP";
  options.stack_size = std::max(stack_size(), std::size_t{8} << 20);
  recording::wait_begins(self, recording::wait::led_region, nullptr);
  bool done = false;
  for (bool possible = true; possible && !done;) {
    const member_kind kind = set_kind(options, preemptive);
    if (kind == member_kind::own_storage) options.tls = heddle::tls::caller;
    self.preemptive = options.preemption != heddle::preemption::none;
    try {
      heddle::detail::run_and_wait(options, lead_here, &all);  // throws before the thread begins
      done = true;
    } catch (const std::system_error& e) {
      possible = e.code() == std::errc::not_supported && settle_for_less(kind, e.what());
    }
  }
  recording::wait_ends(self, recording::wait::led_region, nullptr);
  self.preemptive = false;
  return done;
}

}  // namespace heddle::omp::placing

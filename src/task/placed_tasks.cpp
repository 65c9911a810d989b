// Tasks that another library runs and the policy places: <heddle/detail/placed_task.hpp>. The policy is told of them as
// of children of groups (group.cpp, group_watching.cpp).
#include <heddle/detail/placed_task.hpp>
#include <heddle/runtime.hpp>

#include <limits>
#include <utility>

#include "platform/messages.hpp"
#include "platform/platform.hpp"
#include "worker/caller.hpp"
#include "worker/inline.hpp"
#include "worker/jobs.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

policy::group_info info_of(const placed_children& of, policy::task& owner) noexcept {
  return {policy::not_given, 0, of.made, 0, owner, of.data, 0};
}

policy::task& known_as(worker::worker& w, policy::task* by) noexcept {
  return by != nullptr ? *by : w.current_thread()->scheduling;
}

// The owner waits no more, and nothing that it has made is left.
void close(worker::worker& w, placed_children& of, policy::task& owner) noexcept {
  policy::policy& p = w.home.host().scheduler_policy();
  policy::group_info info = info_of(of, owner);
  if (!of.waited) p.group_wait(w.rank, info);
  // Where the policy would send the owner to is not asked for: a tied task stays with its thread.
  static_cast<void>(p.group_end(w.rank, info));
  of.data = nullptr;
  of.made = 0;
  of.is_open = of.waited = false;
}

void open(worker::worker& w, placed_children& of, policy::task& owner) noexcept {
  of.is_open = true;
  policy::group_info info = info_of(of, owner);
  w.home.host().scheduler_policy().group_begin(w.rank, info);
  of.data = info.data;
}

// Returns the task whose job the entry is, or null if the entry is something else.
placed_task* placed_in(entry item) noexcept {
  if (item == 0 || (item & (worker::continuation_tag | worker::ready_tag)) != 0) return nullptr;
  auto* const work = reinterpret_cast<job*>(item);
  // Nobody waits for such a job, so its word stays its code.
  return is_placed_task(work->now(std::memory_order_relaxed).to_run()) ? &placed_task::of(work) : nullptr;
}

}  // namespace

bool places_tasks() noexcept {
  const std::string& name = heddle::runtime::current().core().options().policy;
  return !name.empty() && name != "random_ws" && name.substr(0, name.find(':')) != "serial";
}

unsigned current_rank() noexcept {
  const worker::section inside;
  const worker::worker* const w = worker::worker::current_or_null();
  return w != nullptr ? w->rank : policy::nobody;
}

bool place_task(placed_task& made, placed_children& maker, policy::task* by, const void* label) noexcept {
  const worker::section inside;
  worker::worker* const w = worker::worker::current_or_null();
  if (w == nullptr) return false;
  code_of_placed_tasks.store(made.entry.own_code(), std::memory_order_relaxed);  // as where it is declared
  policy::task& owner = known_as(*w, by);
  const policy::policy_wants& wants = w->home.host().wants();
  if (wants.groups && w->watches_groups && !maker.is_open) open(*w, maker, owner);
  made.counted_by = &maker;
  maker.living.fetch_add(1, std::memory_order_relaxed);  // lowered by who has taken the task
  policy::placement where = policy::placement::parent_first;
  if (w->watches_spawns) {
    where = w->home.host().scheduler_policy().spawn(
        w->rank, {made.scheduling, &owner, label, policy::not_given, policy::not_given, made.bytes, maker.made, 0,
                  maker.is_open ? maker.data : nullptr});
    ++maker.made;
  }
  if (where == policy::placement::send) {
    platform::note_sent(&made.scheduling, w->rank);
    w->home.host().scheduler_policy().enqueue(w->rank, made.scheduling);
    return true;
  }
  // Neither of a child first nor of a parent first can the continuation be given to others, since tasks are tied to
  // their threads: the child is what thieves may take.
  if (push(entry_of(&made.entry)) != nullptr) return true;
  return false;
}

placed_task* take_placed_task(bool insist) noexcept {
  const worker::section inside;
  worker::worker* const w = worker::worker::current_or_null();
  if (w == nullptr) return nullptr;
  policy::policy& p = w->home.host().scheduler_policy();
  const bool picks = w->home.host().wants().picks;
  entry item = picks ? p.pick(w->rank, false) : 0;
  if (item == 0) item = w->take_newest();
  if (item == 0 && picks) item = p.pick(w->rank, true);
  if (item == 0) item = p.acquire(w->rank, insist ? policy::effort::insist : policy::effort::glance);
  if (item == 0) return nullptr;
  if (placed_task* const found = placed_in(item); found != nullptr) return found;
  w->make_ready(*w->thread_for(item));
  return nullptr;
}

bool may_find_placed_task() noexcept {
  const worker::section inside;
  worker::worker* const w = worker::worker::current_or_null();
  return w != nullptr && (queue::has_any(*w) || w->home.host().scheduler_policy().may_find(w->rank));
}

void placed_children_wait(placed_children& of, policy::task* by) noexcept {
  if (!of.is_open || of.waited) return;
  const worker::section inside;
  worker::worker* const w = worker::worker::current_or_null();
  if (w == nullptr) return;
  of.waited = true;
  policy::group_info info = info_of(of, known_as(*w, by));
  w->home.host().scheduler_policy().group_wait(w->rank, info);
}

void placed_children_go_on(placed_children& of, policy::task* by) noexcept {
  // acquire pairs with placed_task_ended: what the policy was told of the last one
  if (!of.is_open || of.living.load(std::memory_order_acquire) != 0) return;
  const worker::section inside;
  worker::worker* const w = worker::worker::current_or_null();
  if (w != nullptr) close(*w, of, known_as(*w, by));
}

void placed_task_ended(placed_task& it) noexcept {
  const worker::section inside;
  worker::worker* const w = worker::worker::current_or_null();
  if (w != nullptr) {
    if (it.children.is_open) close(*w, it.children, it.scheduling);
    if (it.scheduling.tag != nullptr) w->home.host().scheduler_policy().task_end(w->rank, it.scheduling);
  }
  // release pairs with placed_children_go_on
  if (it.counted_by != nullptr) it.counted_by->living.fetch_sub(1, std::memory_order_release);
}

}  // namespace heddle::detail

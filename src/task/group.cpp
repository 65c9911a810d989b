// Children of task groups: spawn, end, wait. Protocol and proof: README.md, "Counting children".
#include <heddle/task_group.hpp>

#include <stdexcept>

#include <heddle/runtime.hpp>

#include "base/contracts.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

using block = fiber::thread;
using worker::continuation_of;
using worker::renew_thread;

// One counted child has ended. The group may be gone afterwards.
void count_end(group_state& group) noexcept {
  // read before the decrement: after it the owner may leave; meaningful only if the decrement finds `waiting`
  const std::int64_t now = group.outstanding.fetch_sub(1) - 1;
  if (now != group_state::waiting) return;
  waiter* sleeper = group.sleeper;
  group.outstanding.store(0);
  wake(*sleeper);
}

HEDDLE_NO_TSAN void enter(block* self) noexcept {  // may end by heddle_end, inside its call
  auto& group = *static_cast<group_state*>(self->group);
  auto call = reinterpret_cast<void (*)(void*) noexcept>(const_cast<char*>(self->name));  // a child has no name: the word is free
  self->name = nullptr;
  call(self->argument);
  worker::worker* w = worker::worker::current();
  if (w->home.watches_tasks()) [[unlikely]] w->home.scheduler_policy().task_end(w->rank, self->policy_data);
  if (!self->counted) {
    // Is my spawner's continuation, of this very spawn, still the newest entry here? Then nobody knows of it but us.
    block* parent = self->parent;
    const entry mine = continuation_of(*parent);
    slot* position = w->bottom.load(std::memory_order_relaxed) - 1;  // the worker's own variable
    // relaxed twice: only this worker writes its slots; an entry in the queue keeps the parent from running and changing `spawns`
    if (position->load(std::memory_order_relaxed) == mine && parent->spawns.load(std::memory_order_relaxed) == self->parent_spawn &&
        pop(mine, position)) {
      w->came_back(*self, *parent);
      return;
    }
  }
  count_end(group);
  worker::serve(*self);
  heddle_end(self);  // begun by heddle_spawn: a return would go to the spawner
}

// Runs on the child's stack once the spawner is complete in memory.
void offer_continuation(block* parent) {
  if (push(continuation_of(*parent)) != nullptr) [[likely]] return;
  parent->taken = true;  // the queue is full: the continuation goes on as a ready thread
  worker::worker::current()->make_ready(*parent);
}

}  // namespace

child_place make_child(group_state& group, std::size_t bytes, std::size_t alignment, void (*call)(void*) noexcept) {
  worker::worker* w = worker::worker::current();
  block* t = w != nullptr ? w->new_block() : worker::here().new_thread(0, enter);
  if (t == nullptr) [[unlikely]] return {nullptr, nullptr};
  if (w != nullptr) renew_thread(*t, w->home);
  char* room = fiber::argument_area(t, bytes, alignment < 16 ? 16 : alignment);
  t->argument = room;
  t->group = &group;
  t->name = reinterpret_cast<const char*>(call);
  return {reinterpret_cast<child_handle*>(t), room};
}

void start_child(group_state& group, child_handle* handle, double work, const void* label) noexcept {
  auto& child = *reinterpret_cast<block*>(handle);
  worker::worker* w = worker::worker::current();
  block* self = w != nullptr ? w->current_thread() : nullptr;
  child.counted = self == nullptr || self != group.owner;
  if (self == nullptr) {
    group.outstanding.fetch_add(1);
    worker::start_at(child, child.argument, enter);
    worker::make_ready_anywhere(child);
    return;
  }
  if (w->watches_groups && !child.counted && !group.open) [[unlikely]] open_group(group);  // used again after a wait
  policy::placement where;
  if (w->home.watches_spawns()) [[unlikely]] {
    policy::spawn_info info{work, group.work, group.bytes, group.index.fetch_add(1), label, &child.policy_data, &self->policy_data};
    where = w->home.scheduler_policy().spawn(w->rank, info);
  }
  if (where.how != policy::placement::kind::child_first) {
    child.counted = true;
    group.outstanding.fetch_add(1);
    worker::start_at(child, child.argument, enter);
    if (where.how == policy::placement::kind::send) w->home.send(where.target, where.slot, child);
    else w->queue_child(child);
    return;
  }
  if (child.counted) group.outstanding.fetch_add(1);
  child.parent = self;
  // relaxed: read by this spawn's child only while the spawner stands still
  child.parent_spawn = self->spawns.load(std::memory_order_relaxed) + 1;
  self->spawns.store(child.parent_spawn, std::memory_order_relaxed);
  const bool counted = child.counted;
  w->spawn(*self, child, child.argument, offer_continuation, enter);
  if (self->taken) {
    self->taken = false;
    if (!counted) ++group.stolen;
  }
}

void wait_group_slow(group_state& group) {
  worker::worker* w = worker::worker::current();
  void* self = w != nullptr ? w->running : nullptr;
  if (self != group.owner) {
    throw std::logic_error("heddle: task_group::wait by a thread other than the one that made the group");
  }
  if (group.open) [[unlikely]] {
    policy::group_info info{group.work, group.bytes, &w->current_thread()->policy_data, group.policy_data};
    w->home.scheduler_policy().group_wait(w->rank, info);
    group.policy_data = info.group_data;
  }
  const std::int64_t stolen = std::exchange(group.stolen, 0);
  // acquire pairs with count_end: what the children did
  if (stolen == 0 && group.outstanding.load(std::memory_order_acquire) == 0) return;
  if (group.outstanding.fetch_add(stolen) + stolen == 0) return;
  waiter sleeper("task group");
  suspend(sleeper, [](void* data, waiter& me) noexcept {
    auto& g = *static_cast<group_state*>(data);
    g.sleeper = &me;
    const std::int64_t before = g.outstanding.fetch_add(group_state::waiting);
    if (before != 0) return true;
    g.outstanding.store(0);  // nobody is left to see `waiting`
    return false;
  }, &group);
}

void child_threw(group_state& group) noexcept {
  if (group.failed.exchange(true)) return;
  group.error = std::current_exception();
  group.cancelled.store(true);
}

void open_group(group_state& group) noexcept {
  worker::worker& w = *worker::worker::current();
  policy::group_info info{group.work, group.bytes, &w.current_thread()->policy_data, nullptr};
  w.home.scheduler_policy().group_begin(w.rank, info);
  group.policy_data = info.group_data;
  group.open = true;
}

void close_group(group_state& group) noexcept {
  worker::worker* w = worker::worker::current();
  group.open = false;
  policy::group_info info{group.work, group.bytes, &w->current_thread()->policy_data, group.policy_data};
  const unsigned target = w->home.scheduler_policy().group_end(w->rank, info);
  if (target != w->rank) w->home.move_running(target);
}

}  // namespace heddle::detail

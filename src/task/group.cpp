// Children of task groups: how they are made and started on threads, how they end, and waiting for them. Children that
// meanwhile wait in a queue are in queued_children.cpp. Protocol and proof: groups.md.
#include <heddle/task_group.hpp>

#include <new>
#include <stdexcept>

#include <heddle/runtime.hpp>

#include "arch/arch.hpp"
#include "base/contracts.hpp"
#include "platform/messages.hpp"
#include "task/children.hpp"
#include "task/group_watching.hpp"
#include "task/spawn.hpp"
#include "worker/inline.hpp"
#include "worker/jobs.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/time/task_meter.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

using block = fiber::thread;
using worker::continuation_of;
using worker::renew_thread;

template <bool Traced, bool Preemptive>
HEDDLE_NO_TSAN void enter(block* self) noexcept {  // may end by heddle_end, inside its call
  group_state& group = *self->group;
  if constexpr (Traced) {
    trace::emit<trace::event::task_begin>(worker::worker::current().ring, 1u, self->id, self->body.call);
  }
  fiber::preemptible* const kind = Preemptive ? self->preemptive : nullptr;
  if constexpr (Preemptive) worker::begin_preemptive(*kind);
  else base::allow_malloc();
  self->body.call(self->body.closure);
  if constexpr (Preemptive) {
    worker::end_preemptive(*kind);
    self->preemptive = nullptr;
  } else {
    base::forbid_malloc("at the end of a child");
  }
  worker::worker& w = worker::worker::current();
  if constexpr (Traced) trace::emit<trace::event::task_end>(w.ring, self->id);
  if (self->scheduling.tag != nullptr) [[unlikely]] {
    w.end_task(*self);
    self->scheduling.tag = nullptr;  // its thread may go on with jobs
  }
  if (!self->counted) {
    if (take_spawner_back(*self)) return;
  }
  count_end(group);
  self->level.store(0, std::memory_order_relaxed);  // relaxed: own field; the jobs that it goes on with have the normal
                                                    // level
  if constexpr (Preemptive) worker::give_usual_kind(*self, *kind);
  worker::serve(*self);
  heddle_end(self);  // it was begun by heddle_spawn, so a return would go to the spawner
}

[[gnu::always_inline]] inline child_place furnish(block& t, void* top, group_state& group, std::size_t bytes,
                                                  std::size_t alignment, void (*call)(void*) noexcept) noexcept {
  char* room = fiber::argument_area(top, bytes, alignment < 16 ? 16 : alignment);
  t.body.closure = room;
  t.group = &group;
  t.body.call = call;
  return {reinterpret_cast<child_handle*>(&t), nullptr, room};
}

bool fits_block(std::size_t bytes, std::size_t alignment) noexcept {
  return bytes <= group_child::room_bytes && alignment <= 16;
}

// Returns a child that is to be queued, or null if it must be a thread.
[[gnu::always_inline]] inline group_child* take_queued(worker::worker& w, group_state& group, std::size_t bytes,
                                                       std::size_t alignment, void (*call)(void*) noexcept) noexcept {
  if (!is_queued(w, group) || !fits_block(bytes, alignment)) return nullptr;
  group_child* c = w.spare_children;
  if (c == nullptr) [[unlikely]] {
    c = worker::child_blocks::refill(w, run_taken_child);
    if (c == nullptr) return nullptr;
  }
  w.spare_children = c->next;
  c->call = call;
  return c;
}

// Makes a child for a preemptive or foreign caller, for a group or runtime that says how children are preempted, for a
// worker that has run pinned threads, and for a worker that has no block at hand.
[[gnu::noinline]] child_place make_any_child(group_state& group, std::size_t bytes, std::size_t alignment,
                                             void (*call)(void*) noexcept) {
  const worker::caller who = worker::caller::now();
  if (!who.is_foreign() && !who.is_user_code() && !group.kind_given) {
    worker::worker& w = who.on();
    if (!w.home.options().threads.preemptive()) {
      if (group_child* c = take_queued(w, group, bytes, alignment, call); c != nullptr) return {nullptr, c, c->room};
    }
  }
  const worker::section inside;
  block* t = nullptr;
  if (fiber::stack_pool::has_larger() && !who.is_foreign()) [[unlikely]]
    t = worker::new_block(worker::here(), fiber::stack_pool::bytes_of(who.running().stack->size_class));
  if (t == nullptr) t = worker::new_block(worker::here(), 0);
  if (t == nullptr) return {nullptr, nullptr, nullptr};
  t->level.store(group.level, std::memory_order_relaxed);  // relaxed: published with the thread itself
  const fiber::kind how = group.kind_given ? fiber::kind{group.technique, group.storage} : t->home->options().threads;
  return furnish(*t, worker::top_of(*t, how), group, bytes, alignment, call);
}

}  // namespace

static bool pop_unserved(entry item, ticket position) noexcept {
  return pop_or(item, position, pop_slow_unserved) != popped::lost;
}

bool take_spawner_back(block& self) noexcept {
  // [counted:1] If the continuation of my spawner, from this very spawn, is still the newest entry here, no thread took
  // it.
  worker::worker& w = worker::worker::current();
  if (w.is_reminded() || (platform::simulated && platform::cycles() >= w.serves_at.load(std::memory_order_relaxed)))
      [[unlikely]]
    return false;  // the worker's next pick serves, and then takes the continuation: [service:2]
  block* spawner = self.ties.spawner;
  const entry mine = continuation_of(*spawner);
  slot* position = w.bottom.load(std::memory_order_relaxed) - 1;  // relaxed: the worker's own variable
  // relaxed twice: only this worker writes its slots; an entry in the queue keeps the spawner from running and changing
  // `spawns`
  if (position->load(std::memory_order_relaxed) != mine ||
      spawner->spawns.load(std::memory_order_relaxed) != self.ties.spawn_number || !pop_unserved(mine, position)) {
    return false;
  }
  w.came_back(self, *spawner);
  return true;
}

// Makes the continuation a ready thread because the queue is full. It is a function of its own, so that offering saves
// no registers.
[[gnu::noinline]] static void continue_as_ready(block& spawner) {
  spawner.taken = true;
  worker::worker::current().make_ready(spawner);
}

void offer_continuation(block* spawner) {
  if (push(continuation_of(*spawner)) == nullptr) [[unlikely]]
    continue_as_ready(*spawner);
}

child_place make_child(group_state& group, std::size_t bytes, std::size_t alignment, void (*call)(void*) noexcept) {
  const worker::caller who = worker::caller::now();
  if (who.is_foreign() || (who.queue().preempts | group.kind_given) != 0) [[unlikely]]
    return make_any_child(group, bytes, alignment, call);
  worker::worker& w = who.on();
  if (group_child* c = take_queued(w, group, bytes, alignment, call); c != nullptr) return {nullptr, c, c->room};
  if (fits_block(bytes, alignment) && is_full(w, group) && let_children_run(group))
    return make_child(group, bytes, alignment, call);  // perhaps on another worker
  if (fiber::stack_pool::has_larger()) [[unlikely]]
    return make_any_child(group, bytes, alignment, call);
  block* t = w.blocks.cached_block();
  if (t == nullptr) [[unlikely]]
    return make_any_child(group, bytes, alignment, call);
  renew_thread(*t, w.home);
  return furnish(*t, t, group, bytes, alignment, call);
}

void drop_child(child_handle* child, group_child* queued) noexcept {
  const worker::section inside;
  if (queued != nullptr) return free_child(*queued);
  auto& t = *reinterpret_cast<block*>(child);
  t.preemptive = nullptr;
  worker::free_thread(t);
}

// Runs the child at once, in its spawner's place, and offers the spawner's continuation to thieves.
[[gnu::always_inline]] static inline void run_child_first(worker::worker& w, block& self, group_state& group,
                                                          block& child, void (*body)(block*) noexcept) noexcept {
  const bool counted = child.counted;
  if (counted) group.outstanding.fetch_add(1);
  else group.owe(1);
  child.ties.spawner = &self;
  // relaxed: only this spawn's child reads it, while the spawner stands still
  child.ties.spawn_number = self.spawns.load(std::memory_order_relaxed) + 1;
  self.spawns.store(child.ties.spawn_number, std::memory_order_relaxed);
  w.spawn(self, child, child.body.closure, offer_continuation, body);
  if (self.taken) self.taken = false;
  else if (!counted) owe_one_less(group);
}

// Starts a child for callers that are foreign or preemptive, for children of a kind of their own, and where the policy
// or a trace watches them.
[[gnu::noinline]] static void start_any_child(group_state& group, block& child, double work,
                                              const void* label) noexcept {
  const worker::caller who = worker::caller::now();
  if (who.is_user_code()) return worker::in_section([&] { start_any_child(group, child, work, label); });
  worker::worker* w = who.on_or_null();
  block* self = w != nullptr ? w->current_thread() : nullptr;
  const bool preemptive = child.preemptive != nullptr;
  void (*body)(block*) noexcept = preemptive ? enter<false, true> : enter<false, false>;
  child.counted = self == nullptr || !is_owed(group, self);
  if (self == nullptr) {
    group.outstanding.fetch_add(1);
    worker::start_at(child, child.body.closure, body);
    return worker::start_root(child, label);
  }
  if (!child.counted && !group.open) open_group(group);  // the group is used again after a wait
  if (w->ring != nullptr) {
    trace::emit<trace::event::spawn>(w->ring, trace_id(group), child.id, work);
    body = preemptive ? enter<true, true> : enter<true, false>;
  }
  auto where = policy::placement::child_first;
  if (child.level.load() != 0 || self->ties.belongs.is_pinned()) {
    // This holds whatever the policy does with other children; [pin:2].
    where = policy::placement::parent_first;
  } else if (w->watches_spawns || group.policy_data != nullptr) {
    // relaxed: a number; the policy orders what it derives from it
    const unsigned index = group.index.fetch_add(1, std::memory_order_relaxed);
    void* const data = self == group.owner ? group.policy_data : nullptr;
    where = w->home.host().scheduler_policy().spawn(w->rank, {child.scheduling, &self->scheduling, label, work,
                                                              group.work, group.bytes, index, group.expected, data});
  }
  if (where == policy::placement::child_first) return run_child_first(*w, *self, group, child, body);
  child.counted = true;
  group.outstanding.fetch_add(1);
  worker::start_at(child, child.body.closure, body);
  if (child.level.load() != 0) return w->make_ready(child);
  // These are blocks of children that were sent elsewhere and have ended; the next child uses one.
  w->blocks.collect_returned();
  if (where != policy::placement::send) return w->queue_child(child);
  platform::note_sent(&child.scheduling, w->rank);
  w->home.host().scheduler_policy().enqueue(w->rank, child.scheduling);
}

void start_child(group_state& group, child_handle* handle, double work, const void* label) noexcept {
  auto& child = *reinterpret_cast<block*>(handle);
  const worker::caller who = worker::caller::now();
  // children go to no queue where the policy or a trace watches them
  if (who.is_foreign() || (!who.queue().queues_children | who.queue().preempts | group.kind_given) != 0) [[unlikely]] {
    return start_any_child(group, child, work, label);
  }
  worker::worker& w = who.on();
  block* self = w.current_thread();
  child.counted = !is_owed(group, self);
  run_child_first(w, *self, group, child, enter<false, false>);
}

bool wait_group_slow(group_state& group) {
  const worker::caller who = worker::caller::now();
  void* self = who.is_foreign() ? foreign_owner() : &who.running();
  if (self != group.owner) {
    wait_shared(group);
    return false;
  }
  if (who.is_user_code()) [[unlikely]]
    return worker::in_section([&] { return wait_group_slow(group); });
  if (group.open && who.on().home.host().wants().groups) [[unlikely]] {
    worker::worker& w = who.on();
    policy::group_info info = info_of(group, w, elapsed_in(group, w));
    w.home.host().scheduler_policy().group_wait(w.rank, info);
  }
  if (group.runs_child) throw std::logic_error("heddle: task_group::wait inside a child of the group");
  const std::int64_t owed = group.owes();
  // acquire pairs with count: what the children did
  if (owed == 0 && group.outstanding.load(std::memory_order_acquire) == 0) return true;
  // [shared:3] In this order, and a look after it: another thread that reads both may count these children twice, and
  // the look corrects that.
  const bool empty = group.outstanding.fetch_add(owed) + owed == 0;
  group.owe(-owed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!group.is_shared()) [[likely]] {
    if (empty) return true;
    waiter sleeper("task group");
    suspend(
        sleeper,
        [](void* data, waiter& me) noexcept {
          auto& g = *static_cast<group_state*>(data);
          g.sleeper = &me;
          std::int64_t now = g.outstanding.load();
          do {
            // No child is left, or another thread has become the first waiter.
            if (now == 0 || now >= group_state::owner_waits / 2) return false;
          } while (!g.outstanding.compare_exchange_weak(now, now + group_state::owner_waits));
          return true;
        },
        &group);
  }
  if (group.is_shared()) [[unlikely]] {  // [shared:4]
    settle(group);
    wait_shared(group);
  }
  return true;
}

void* foreign_owner() noexcept { return arch::thread_pointer(); }

void set_priority(group_state& group, priority level) {
  worker::here().precedence().use(level);
  if (!group.kind_given) set_kind(group, preemption::as_runtime, tls::as_runtime);
  group.level = static_cast<std::int8_t>(level);
}

void set_kind(group_state& group, preemption technique, tls storage) {
  const fiber::kind how = worker::kind_of(worker::here(), technique, storage);
  group.technique = how.technique;
  group.storage = how.storage;
  group.kind_given = true;
  std::int64_t most = group_state::most_queued;
  group.most_owed.compare_exchange_strong(most, 0);  // a shared group stays shared
}

void child_threw(group_state& group) noexcept {
  // This runs on the child's own thread, because current_exception() is in its thread-local storage.
  if (group.failed.exchange(true)) return;
  group.error = std::current_exception();
  group.cancelled.store(true);
}

}  // namespace heddle::detail

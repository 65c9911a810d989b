// The worker's short paths, which every yield, spawn, join and end of a thread goes through. They are inline in the few
// files that do these, since the calls between them and the registers saved around each took a tenth of their time.
#pragma once

#include "base/audit.hpp"
#include "platform/explored.hpp"
#include "worker/carriers/carrier.hpp"
#include "worker/exceptions.hpp"
#include "worker/new_thread.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

// The most picks between two looks at work from outside. Where picks are long there are fewer: [service:4].
inline constexpr unsigned fairness_interval = 61;

// --- switching ---------------------------------------------------------------------------------------------------

// For audit builds. A thread that is not preemptive is in its own code as soon as it goes on, as far as can be told; a
// preemptive one when it leaves the runtime, [section:4] to [section:8].
[[gnu::always_inline]] inline void goes_on(const thread& t) noexcept {
  if constexpr (base::audits_malloc) {
    if (t.preemptive == nullptr) base::allow_malloc();
  }
}

#if defined(HEDDLE_ASAN)
inline void arrive(void* data, void*) {
  const worker::crossing c = *static_cast<worker::crossing*>(data);
  fiber::after_switch(c.to, *c.native);
  c.after(c.a, c.b);
}
#endif

// A simulated platform hears of the switch, and of threads that change workers.
inline void worker_switching::charge_switch([[maybe_unused]] thread* to) const noexcept {
  platform::charge(platform::operation::thread_switch);
  if constexpr (platform::simulated) {
    if (to == nullptr) return;
    if (to->ties.worker_rank != static_cast<std::uint16_t>(rank) && to->ties.worker_rank != fiber::no_worker)
      platform::charge(platform::operation::migration);
    to->ties.worker_rank = static_cast<std::uint16_t>(rank);
  }
}

// Returns the context that a switch to the thread loads.
inline void* context_of(thread& t) noexcept {
  if (fiber::is_not_begun(t.stack_pointer)) [[unlikely]]
    begin(t);
  return t.stack_pointer;
}

template <bool Watched>
[[gnu::always_inline]] inline void worker_switching::cross(thread* from, thread* to, void (*after)(void*, void*),
                                                           void* a, void* b, bool last) noexcept {
  charge_switch(to);
  void** save = from != nullptr ? &from->stack_pointer : &by->stack_pointer;
  void* load = to != nullptr ? context_of(*to) : by->stack_pointer;
  if (Watched && watches_switches) [[unlikely]]
    note_switch(from, to);
  running = to;
  base::forbid_malloc("by a worker between two threads");
  fiber::before_switch(from, to, by->native, last);
#if defined(HEDDLE_ASAN)
  crossing c{to, &by->native, after, a, b};
  heddle_switch(save, load, arrive, &c, nullptr);
#else
  static_cast<void>(last);
  heddle_switch(save, load, after, a, b);
#endif
  if (from != nullptr) goes_on(*from);
}

inline void worker_switching::spawn(thread& self, thread& child, void* stack_top, void (*after)(thread*),
                                    void (*body)(thread*)) noexcept {
  platform::charge(platform::operation::spawn);
  if constexpr (platform::simulated) child.ties.worker_rank = static_cast<std::uint16_t>(rank);
  const exception_state handled = by->leave_exceptions();  // a spawn inside a catch block
  if (watches_switches) [[unlikely]]
    note_spawn(self, child);
  running = &child;
  base::forbid_malloc("by a worker between two threads");
#if defined(HEDDLE_TSAN) || defined(HEDDLE_ASAN)
  // These tools want to see each change of stacks: the child starts like any thread, and leaves by came_back.
  start_at(child, stack_top, body);
  running = &self;
  cross(
      &self, &child, [](void* a, void* b) { reinterpret_cast<void (*)(thread*)>(b)(static_cast<thread*>(a)); }, &self,
      reinterpret_cast<void*>(after), false);
#else
  heddle_spawn(&self.stack_pointer, stack_top, reinterpret_cast<void (*)(void*)>(after), &self,
               reinterpret_cast<void (*)(void*)>(body), &child);
#endif
  goes_on(self);
  take_back_exceptions(handled);
}

inline void worker_switching::came_back(thread& child, thread& spawner) noexcept {
  blocks.free_thread(child);  // nobody takes it from this worker's cache before its body has returned
#if defined(HEDDLE_TSAN) || defined(HEDDLE_ASAN)
  depart(child, &spawner, [](void*, void*) {});
#else
  if (watches_switches) [[unlikely]]
    note_return(child, spawner);
  running = &spawner;
#endif
}

// Nothing waits for `t` but `self`, and `self` waits for nothing else. So whichever worker `t` ends on goes on with
// `self`, by a return.
inline bool worker::call([[maybe_unused]] thread& self, [[maybe_unused]] thread& t,
                         [[maybe_unused]] void (*body)(thread*)) noexcept {
#if defined(HEDDLE_TSAN) || defined(HEDDLE_ASAN)
  return false;  // these tools want to see each change of stacks
#else
  if (platform::simulated || watches_switches || self.scheduling.tag != nullptr) return false;
  if (picks_specially.load(std::memory_order_relaxed) && something_may_come_first()) [[unlikely]]
    return false;
  const std::uint64_t count = picks.load(std::memory_order_relaxed) + 1;  // own counter
  if (is_fair_choice(count) || !ready.take_new(t)) return false;
  picks.store(count, std::memory_order_relaxed);  // own counter
  t.completion.call();
  t.ties.joiner = &self;
  const bool light = fiber::is_light(t);
  spawn(self, t, light ? blocks.give_stack(t) : t.body.closure, [](thread*) {}, body);
  if (light) current().blocks.take_stack_back(t);
  return true;
#endif
}

// --- choosing what to run ----------------------------------------------------------------------------------------

inline thread* worker_agenda::thread_for(entry item) noexcept {
  if (item == 0) return nullptr;
  auto* t = reinterpret_cast<thread*>(item & ~entry{3});
  if ((item & ready_tag) != 0) {
    if (t->preemptive == nullptr || t->preemptive->bound == nullptr) [[likely]]
      return t;
    passing_to = t;
    return nullptr;
  }
  if ((item & continuation_tag) != 0) {
    t->taken = true;
    return t;
  }
  return thread_of_job(item);
}

// Whether pick number `count` is to be a fair choice. In virtual time each pick reads the clock.
[[gnu::always_inline]] inline bool worker_agenda::is_fair_choice(std::uint64_t count) noexcept {
  if (!platform::simulated && count < looks_at_pick_) [[likely]]
    return false;
  return is_fair_choice_now(count);
}

inline entry worker_agenda::pick(const thread* stays) noexcept {
  if (platform::reminds()) pick_slowly(something_waits, true);
  // relaxed: a change is seen at the next look
  if (picks_specially.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return pick_slowly_marked(stays);
  return pick_ordinarily();
}

inline bool worker_agenda::may_go_on() noexcept {
  if (platform::reminds()) pick_slowly(something_waits, true);
  // relaxed: as in pick
  if (picks_specially.load(std::memory_order_relaxed) != 0 || is_inactive()) [[unlikely]]
    return false;
  const std::uint64_t count = picks.load(std::memory_order_relaxed) + 1;  // own counter
  if (is_fair_choice(count)) [[unlikely]]
    return false;
  picks.store(count, std::memory_order_relaxed);
  return true;
}

inline entry worker_agenda::pick_ordinarily() noexcept {
  const std::uint64_t count = count_pick();
  if (is_fair_choice(count)) [[unlikely]] {
    note_fair_choice(count);
    if (const entry item = pick_fairly(); item != 0) return item;
  }
  return sources::take<sources::ordinary_choice>(whole());
}

// Every 64th yield takes from the worker's own queue first, because all ready threads may wait for what stands there.
inline entry worker_agenda::pick_for_yield() noexcept {
  constexpr std::uint64_t queue_first_every = 64;
  const std::uint64_t count = count_pick();
  if (is_fair_choice(count)) [[unlikely]] {
    note_fair_choice(count);
    if (const entry item = pick_fairly(); item != 0) return item;
  }
  if (count % queue_first_every != 0) [[likely]] {
    if (thread* t = ready.pop(); t != nullptr) [[likely]]
      return ready_entry(*t);
  }
  return sources::take<sources::ordinary_choice>(whole());
}

// --- ready threads -----------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline void worker_agenda::make_ready_here(thread& t) noexcept {
  const bool next = will_pick() && ready.looks_empty();  // this worker runs it at once
  if (!ready.try_push(t)) [[unlikely]]
    return make_ready_later(t);
  if (!next) tell_of_ready();
}

[[gnu::always_inline]] inline void worker_agenda::tell_of_ready() noexcept {
  // After the push: with a sleeper's {request, heavy fence, look} these are Dekker's two sides.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // pairs with the sleeper's request through its heavy fence; another request that is missed here is seen next time
  if (requested.load(std::memory_order_relaxed)) [[unlikely]]
    share_ready();
}

// For a thread that its maker, which runs here, has just made, and may join.
inline void worker_agenda::make_new_ready(thread& t) noexcept {
  if (queues_specially.load(std::memory_order_relaxed)) [[unlikely]]
    return make_new_ready_slowly(t);  // as in make_ready
  if (!ready.try_push_new(t)) [[unlikely]]
    return make_ready_later(t);
  tell_of_ready();
}

inline void worker_agenda::make_ready(thread& t) noexcept {
  // relaxed: code that hands us a thread with a priority has seen it set
  if (queues_specially.load(std::memory_order_relaxed)) [[unlikely]]
    return make_ready_slowly(t);
  make_ready_here(t);
}

inline void worker_agenda::requeue(thread& t) noexcept {
  if (queues_specially.load(std::memory_order_relaxed)) [[unlikely]] {  // as in make_ready
    if (make_ready_specially(t, true)) return;
  }
  make_ready_here(t);
}

inline void worker_agenda::requeue_preempted(thread& t) noexcept {
  if (!home.host().places_preempted(rank, t)) requeue(t);
}

}  // namespace heddle::worker

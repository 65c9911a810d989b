#include "worker/worker.hpp"

#include <heddle/task_group.hpp>

#include <algorithm>
#include <utility>

#include "base/contracts.hpp"
#include "platform/platform.hpp"
#include "worker/carriers/carrier.hpp"
#include "worker/inline.hpp"
#include "worker/jobs.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/time/task_meter.hpp"

extern "C" HEDDLE_NO_TSAN heddle::arch::departure* heddle_depart(void* argument) noexcept {
  return heddle::worker::worker::current().departing(*static_cast<heddle::fiber::thread*>(argument));
}

namespace heddle::worker {

namespace {

// The queue takes 8 MiB of address space, committed as far as forks nest.
constexpr std::size_t queue_capacity = queue::largest_capacity;

void nothing(void*, void*) {}

}  // namespace

worker::worker(runtime& owner, unsigned number, int unit, std::uint64_t seed)
    : worker_agenda(owner, number, unit, seed),
      spin_us_(owner.options().spin),
      least_slept_(owner.options().spin * platform::cycles_per_microsecond()) {
  memory_ = static_cast<detail::slot*>(platform::reserve(queue::slots_for(queue_capacity) * sizeof(detail::slot)));
  if (memory_ == nullptr) throw std::bad_alloc();
  queue::attach(*this, memory_, queue_capacity);
  preempts = owner.options().threads.preemptive();
}

worker::~worker() { platform::release(memory_, queue::slots_for(queue_capacity) * sizeof(detail::slot)); }

worker_state::worker_state(runtime& owner, unsigned number, int unit, std::uint64_t seed) noexcept
    : home(owner),
      rank(number),
      processing_unit(unit),
      random(seed),
      bound(owner.options().service_bound * platform::cycles_per_microsecond() / 1000) {
  ticking.since = platform::now();
  serves_at.store(platform::cycles() + bound, std::memory_order_relaxed);  // no other thread knows it yet
}

worker_switching::worker_switching(runtime& owner, unsigned number, int unit, std::uint64_t seed)
    : worker_state(owner, number, unit, seed), blocks(whole(), owner.stacks().default_class()) {}

// --- switching ---------------------------------------------------------------------------------------------------

void worker_switching::switch_to(thread& self, thread& next, void (*after)(void*, void*), void* a, void* b) noexcept {
  // A function apart, because that spares all other switches six saved registers.
  if (watches_switches) [[unlikely]]
    return switch_watched(self, next, after, a, b);
  cross<false>(&self, &next, after, a, b, false);
}

void worker_switching::switch_watched(thread& self, thread& next, void (*after)(void*, void*), void* a,
                                      void* b) noexcept {
  cross(&self, &next, after, a, b, false);
}

void worker_switching::switch_to_run_loop(thread& self, void (*after)(void*, void*), void* a, void* b) noexcept {
  cross(&self, nullptr, after, a, b, false);
}

void worker::switch_away(thread& self, void (*after)(void*, void*), void* a, void* b, bool last) noexcept {
  cross(&self, thread_for(pick()), after, a, b, last);
}

void worker_switching::note_switch(thread* from, thread* to) noexcept {
  if (from != nullptr) trace::emit<trace::event::thread_park>(ring, 0u, from->id);
  if (to != nullptr) trace::emit<trace::event::thread_switch_in>(ring, to->id);
  if (meter != nullptr) meter->change(whole(), from, to);
}

void worker_switching::note_spawn(thread& self, thread& child) noexcept {
  trace::emit<trace::event::thread_switch_in>(ring, child.id);
  if (meter != nullptr) meter->change(whole(), &self, &child);
}

void worker_switching::note_return(thread& child, thread& parent) noexcept {
  trace::emit<trace::event::thread_switch_in>(ring, parent.id);
  if (meter == nullptr) return;
  meter->change(whole(), &child, &parent);
  meter->forget(child);
}

void worker_switching::note_departure(thread& self, thread* to) noexcept {
  trace::emit<trace::event::thread_park>(ring, trace::park_reason::ended, self.id);
  if (to != nullptr) trace::emit<trace::event::thread_switch_in>(ring, to->id);
  if (meter == nullptr) return;
  meter->change(whole(), &self, to);
  meter->forget(self);
}

void worker::end_task(thread& t) noexcept {
  if (watches_switches && meter != nullptr) meter->tell(whole(), t);
  home.host().scheduler_policy().task_end(rank, t.scheduling);
}

void worker_switching::dive(thread& next) noexcept { cross(nullptr, &next, nothing, nullptr, nullptr, false); }

void worker_switching::depart(thread& self, thread* next, void (*after)(void*, void*), void* b) noexcept {
  departing_to_ = next;
  departure_.after = after;
  departure_.a = &self;
  departure_.b = b;
}

// Called between the return of a thread's body and the switch, still on the thread's stack.
HEDDLE_NO_TSAN arch::departure* worker_switching::departing(thread& self) noexcept {
  thread* to = departing_to_;
  charge_switch(to);
  departure_.stack_pointer = to != nullptr ? context_of(*to) : by->stack_pointer;
  if (watches_switches) [[unlikely]]
    note_departure(self, to);
  running = to;
  fiber::before_switch(&self, to, by->native, true);
#if defined(HEDDLE_ASAN)
  asan_crossing_ = {to, &by->native, departure_.after, departure_.a, departure_.b};
  departure_.after = arrive;
  departure_.a = &asan_crossing_;
#endif
  return &departure_;
}

// --- threads that have not begun -----------------------------------------------------------------------------------

void start_at(thread& t, void* stack_top, void (*body)(thread*)) noexcept {
  t.stack_pointer = arch::prepare(stack_top, reinterpret_cast<void (*)(void*)>(body), &t, t.home->floating_point());
}

void begin(thread& t) noexcept {
  void* const top = fiber::is_light(t) ? worker::current().blocks.give_stack(t) : t.body.closure;
  start_at(t, top, t.body.start);
}

// --- jobs --------------------------------------------------------------------------------------------------------

// Returns the class of stack that the job asks for: that of the thread that made it, if that is larger than the
// default. The job of a fork or loop lies on its maker's stack; of a child, its group does.
[[gnu::noinline]] static unsigned class_for(const worker& w, const detail::job& work) noexcept {
  const void* on_makers_stack = &work;
  // relaxed: a child brings the value along
  if (work.own_code() == detail::code_of_children.load(std::memory_order_relaxed))
    on_makers_stack = static_cast<const detail::group_child&>(work).group;
  return w.home.stacks().class_around(on_makers_stack);
}

static bool has_room_for(const thread& self, const worker& w, const detail::job& work) noexcept {
  return !fiber::stack_pool::has_larger() || self.size_class >= class_for(w, work);
}

// Returns a block with a larger stack, or null if there is no memory for one.
[[gnu::noinline]] static thread* larger_block(worker& w, const detail::job& work) noexcept {
  const unsigned size_class = class_for(w, work);
  if (size_class == w.home.stacks().default_class()) return nullptr;
  return new_block(w.home, fiber::stack_pool::bytes_of(size_class));
}

[[gnu::always_inline]] static inline thread* make_for_tasks(worker& w, void (*body)(thread*), void* argument,
                                                            const detail::job* work = nullptr) noexcept {
  thread* fresh = nullptr;
  if (work != nullptr && fiber::stack_pool::has_larger()) [[unlikely]]
    fresh = larger_block(w, *work);
  if (fresh == nullptr) fresh = w.blocks.new_block();
  if (fresh == nullptr) return nullptr;
  renew_thread(*fresh, w.home);
  start_at(*fresh, top_of(*fresh, w.home.options().threads), body);
  fresh->body.argument = argument;
  return fresh;
}

thread* thread_for_tasks(worker& w, void (*body)(thread*), void* argument) noexcept {
  return make_for_tasks(w, body, argument);
}

thread* worker_agenda::thread_of_job(entry item) noexcept {
  auto* const work = reinterpret_cast<detail::job*>(item);
  thread* fresh = make_for_tasks(whole(), run_jobs, nullptr, work);
  if (fresh == nullptr) blocks.fail("a task");
  fresh->body.job = work;
  return fresh;
}

void run_job(thread& self, detail::job* work) noexcept {
  const detail::job::state seen = work->now();
  const detail::waiter* const owner = seen.awaited_by();
  const auto code = owner != nullptr ? reinterpret_cast<detail::job::code>(owner->payload) : seen.to_run();
  // The end of the job is noted elsewhere: complete_job, run_submitted.
  if (trace::ring* const ring = worker::current().ring; ring != nullptr && !detail::is_placed_task(code)) [[unlikely]]
    trace::emit<trace::event::task_begin>(ring, 0u, work, detail::shown_code(work, code));
  begin_user_code(self);
  code(work);
  end_user_code(self);
}

void run_jobs(thread* self) noexcept {
  run_job(*self, self->body.job);
  serve(*self);
}

void serve(thread& self) noexcept {
  for (;;) {
    worker* w = &worker::current();
    const entry item = w->pick();
    if (item != 0 && (item & (continuation_tag | ready_tag)) == 0 &&
        has_room_for(self, *w, *reinterpret_cast<detail::job*>(item))) {
      run_job(self, reinterpret_cast<detail::job*>(item));
      continue;
    }
    // `self` goes into the cache below while this code still runs on its stack, so nothing may take a block from the
    // cache after that. A light thread that comes next is therefore given its stack here, not in the switch.
    thread* next = w->thread_for(item);
    if (next != nullptr && fiber::is_not_begun(next->stack_pointer)) begin(*next);
    self.preemptive = nullptr;
    // The thread was passed here or stolen, and its block goes back. Otherwise a worker that passes threads on would
    // always have new blocks, on cold stacks.
    if (self.cache != w && self.cache != nullptr) {
      w->depart(self, next,
                [](void* t, void*) { static_cast<thread*>(t)->cache->blocks.give_back(*static_cast<thread*>(t)); });
      return;
    }
    // A stack of another size goes to the pool, where any worker may take it.
    if (self.size_class != w->home.stacks().default_class()) [[unlikely]] {
      w->depart(self, next, [](void* t, void*) { free_thread(*static_cast<thread*>(t)); });
      return;
    }
    w->blocks.free_thread(self);
    w->depart(self, next, nothing);
    return;
  }
}

}  // namespace heddle::worker

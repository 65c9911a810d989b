#include "worker/worker.hpp"

#include <algorithm>

#include "base/contracts.hpp"
#include "platform/platform.hpp"
#include "worker/carrier.hpp"
#include "worker/runtime.hpp"
#include "worker/section.hpp"

constinit thread_local heddle::detail::fork_queue* heddle_current_queue = nullptr;

extern "C" HEDDLE_NO_TSAN heddle::arch::departure* heddle_depart(void* argument) noexcept {
  return heddle::worker::worker::current()->departing(*static_cast<heddle::fiber::thread*>(argument));
}

namespace heddle::worker {

namespace {

constexpr std::size_t queue_capacity = queue::largest_capacity;  // 8 MiB of address space, committed as far as forks nest
constexpr unsigned cache_batch = 64;                      // from the pool at once, once so many were needed; before that fewer, for each is a page fault
constexpr unsigned cache_limit = 8 * cache_batch;
constexpr unsigned fairness_interval = 61;                 // picks between two looks at what comes from outside

#if defined(HEDDLE_ASAN)
void arrive(void* data, void*) {
  const worker::crossing c = *static_cast<worker::crossing*>(data);
  fiber::after_switch(c.to, *c.native);
  c.after(c.a, c.b);
}
#endif

void nothing(void*, void*) {}

}  // namespace

// A simulated platform hears of the switch, and of threads that change workers.
inline void worker::charge_switch([[maybe_unused]] thread* to) const noexcept {
  platform::charge(platform::operation::thread_switch);
  if constexpr (platform::simulated) {
    if (to == nullptr) return;
    if (to->worker_rank != rank && to->worker_rank != fiber::no_worker) platform::charge(platform::operation::migration);
    to->worker_rank = rank;
  }
}

worker::worker(runtime& owner, unsigned number, int unit, std::uint64_t seed)
    : home(owner), rank(number), processing_unit(unit), random(seed), made_at(platform::now()), spin_us_(owner.options().spin) {
  memory_ = static_cast<detail::slot*>(platform::reserve(queue::slots_for(queue_capacity) * sizeof(detail::slot)));
  if (memory_ == nullptr) throw std::bad_alloc();
  queue::attach(*this, memory_, queue_capacity);
  preempts = owner.threads_default().preemptive();
}

worker::~worker() {
  while (cache_ != nullptr) {
    thread* t = cache_;
    cache_ = t->next;
    t->next = nullptr;
    home.stacks().give(t);
  }
  platform::release(memory_, queue::slots_for(queue_capacity) * sizeof(detail::slot));
}

// --- switching ---------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline void worker::cross(thread* from, thread* to, void (*after)(void*, void*), void* a, void* b, bool last) noexcept {
  charge_switch(to);
  void** save = from != nullptr ? &from->stack_pointer : &by->stack_pointer;
  void* load = to != nullptr ? to->stack_pointer : by->stack_pointer;
  if (from != nullptr && ring != nullptr) [[unlikely]] trace::emit<trace::event::thread_park>(ring, 0u, from->id);
  if (to != nullptr && ring != nullptr) [[unlikely]] trace::emit<trace::event::thread_switch_in>(ring, to->id);
  running = to;
  fiber::before_switch(from, to, by->native, last);
#if defined(HEDDLE_ASAN)
  crossing c{to, &by->native, after, a, b};
  heddle_switch(save, load, arrive, &c, nullptr);
#else
  static_cast<void>(last);
  heddle_switch(save, load, after, a, b);
#endif
}

void worker::switch_to(thread& self, thread& next, void (*after)(void*, void*), void* a, void* b, bool last) noexcept {
  cross(&self, &next, after, a, b, last);
}

void worker::switch_to_run_loop(thread& self, void (*after)(void*, void*), void* a, void* b) noexcept {
  cross(&self, nullptr, after, a, b, false);
}

void worker::switch_away(thread& self, void (*after)(void*, void*), void* a, void* b, bool last) noexcept {
  cross(&self, thread_for(pick()), after, a, b, last);
}

void worker::dive(thread& next) noexcept { cross(nullptr, &next, nothing, nullptr, nullptr, false); }

void worker::spawn(thread& self, thread& child, void* stack_top, void (*after)(thread*), void (*entry)(thread*)) noexcept {
  platform::charge(platform::operation::spawn);
  if constexpr (platform::simulated) child.worker_rank = rank;
  const exception_state handled = by->leave_exceptions();  // a spawn inside a catch block
  trace::emit<trace::event::thread_switch_in>(ring, child.id);
  running = &child;
#if defined(HEDDLE_TSAN) || defined(HEDDLE_ASAN)
  // These tools want to see each change of stacks: the child starts like any thread, and leaves by came_back.
  start_at(child, stack_top, entry);
  running = &self;
  cross(&self, &child, [](void* a, void* b) { reinterpret_cast<void (*)(thread*)>(b)(static_cast<thread*>(a)); }, &self,
        reinterpret_cast<void*>(after), false);
#else
  heddle_spawn(&self.stack_pointer, stack_top, reinterpret_cast<void (*)(void*)>(after), &self,
               reinterpret_cast<void (*)(void*)>(entry), &child);
#endif
  if (handled.any()) [[unlikely]] *current()->by->exceptions = handled;
}

void worker::came_back(thread& child, thread& parent) noexcept {
  free_thread(child);  // nobody takes it from this worker's cache before its entry has returned
#if defined(HEDDLE_TSAN) || defined(HEDDLE_ASAN)
  depart(child, &parent, nothing);
#else
  trace::emit<trace::event::thread_switch_in>(ring, parent.id);
  running = &parent;
#endif
}

// Nothing waits for `t` but `self`, and `self` for nothing else: so whichever worker `t` ends on goes on with `self`, by a return.
bool worker::call([[maybe_unused]] thread& self, [[maybe_unused]] thread& t, [[maybe_unused]] void (*entry)(thread*)) noexcept {
#if defined(HEDDLE_TSAN) || defined(HEDDLE_ASAN)
  return false;   // these tools want to see each change of stacks
#else
  if (platform::simulated || ring != nullptr || home.asks_before_picks() || self.scheduling.word != nullptr) return false;
  const std::uint64_t tick = picks.load(std::memory_order_relaxed) + 1;  // own counter
  if (tick % fairness_interval == 0 || !ready.pop_if(t)) return false;
  if (t.begun) {
    ready.push(t);
    return false;
  }
  picks.store(tick, std::memory_order_relaxed);                          // own counter
  t.completion.store(fiber::called, std::memory_order_relaxed);          // read by `t` alone
  t.parent = &self;
  spawn(self, t, t.argument, [](thread*) {}, entry);
  return true;
#endif
}

void worker::depart(thread& self, thread* next, void (*after)(void*, void*), void* b) noexcept {
  departing_to_ = next;
  departure_.after = after;
  departure_.a = &self;
  departure_.b = b;
}

// Between the return of a thread's entry and the switch, still on its stack.
HEDDLE_NO_TSAN arch::departure* worker::departing(thread& self) noexcept {
  thread* to = departing_to_;
  charge_switch(to);
  departure_.stack_pointer = to != nullptr ? to->stack_pointer : by->stack_pointer;
  trace::emit<trace::event::thread_park>(ring, trace::park_reason::ended, self.id);
  if (to != nullptr) trace::emit<trace::event::thread_switch_in>(ring, to->id);
  running = to;
  fiber::before_switch(&self, to, by->native, true);
#if defined(HEDDLE_ASAN)
  asan_crossing_ = {to, &by->native, departure_.after, departure_.a, departure_.b};
  departure_.after = arrive;
  departure_.a = &asan_crossing_;
#endif
  return &departure_;
}

// --- control blocks ----------------------------------------------------------------------------------------------

void worker::refill() noexcept {
  thread* chain = home.stacks().take(home.stacks().default_class(), batch_);
  batch_ = std::min(2 * batch_, cache_batch);
  while (chain != nullptr) {
    thread* t = chain;
    chain = t->next;
    t->next = cache_;
    cache_ = t;
    ++cached_;
  }
}

thread* worker::new_block() noexcept {
  if (cache_ == nullptr) [[unlikely]] {
    refill();
    if (cache_ == nullptr) return nullptr;
  }
  thread* t = cache_;
  cache_ = t->next;
  --cached_;
  return t;
}

void worker::free_thread(thread& t) noexcept {
  if (t.size_class != home.stacks().default_class()) [[unlikely]] {
    t.next = nullptr;
    home.stacks().give(&t);
    return;
  }
  if (cached_ >= cache_limit) [[unlikely]] {
    thread* chain = nullptr;
    for (unsigned i = 0; i < cache_batch; ++i) {
      thread* old = cache_;
      cache_ = old->next;
      old->next = chain;
      chain = old;
    }
    cached_ -= cache_batch;
    home.stacks().give(chain);
  }
  t.next = cache_;
  cache_ = &t;
  ++cached_;
}

void renew_thread(thread& t, runtime& home) noexcept {
  fiber::reuse_stack(t);
  t.home = &home;
  t.completion.store(fiber::running, std::memory_order_relaxed);  // published with the thread itself
  t.spawns.store(0, std::memory_order_relaxed);                   // published with the thread itself
  t.taken = false;
  t.counted = false;
  t.scheduling.word = nullptr;
  t.waits_for = nullptr;
  t.name = nullptr;
  if constexpr (platform::simulated) t.worker_rank = fiber::no_worker;
}

void start_at(thread& t, void* stack_top, void (*entry)(thread*)) noexcept {
  t.stack_pointer = arch::prepare(stack_top, reinterpret_cast<void (*)(void*)>(entry), &t);
}

// --- choosing what to run ----------------------------------------------------------------------------------------

thread* worker::thread_for(entry item) noexcept {
  if (item == 0) return nullptr;
  auto* t = reinterpret_cast<thread*>(item & ~entry{3});
  if ((item & ready_tag) != 0) {
    if (t->preemptive == nullptr || t->preemptive->bound == nullptr) [[likely]] return t;
    passing_to = t;
    return nullptr;
  }
  if ((item & continuation_tag) != 0) {
    t->taken = true;
    return t;
  }
  thread* fresh = new_block();
  HEDDLE_CHECK(fresh != nullptr, "worker %u cannot get a stack for a task (%zu threads live); raise the memory or mapping limit, "
               "or lower HEDDLE_STACK_SIZE", rank, home.stacks().live());
  renew_thread(*fresh, home);
  start_at(*fresh, top_of(*fresh, home.threads_default()), run_jobs);
  fresh->argument = reinterpret_cast<void*>(item);
  return fresh;
}

entry worker::pick() noexcept {
  const std::uint64_t tick = picks.load(std::memory_order_relaxed) + 1;  // own counter
  picks.store(tick, std::memory_order_relaxed);
  if (tick % fairness_interval == 0) [[unlikely]] {
    if (const entry item = pick_fairly(); item != 0) return item;
  }
  if (picks_specially.load(std::memory_order_relaxed)) [[unlikely]] {  // seen at the next look
    if (stands_aside()) return 0;
    if (home.asks_before_picks()) {
      if (const entry item = home.scheduler_policy().pick(rank, false); item != 0) return item;
    }
  }
  if (const entry item = take_newest(); item != 0) return item;
  if (thread* t = ready.pop(); t != nullptr) return ready_entry(*t);
  return home.asks_before_picks() ? home.scheduler_policy().pick(rank, true) : 0;
}

entry worker::take_newest() noexcept {
  bool published = false;
  const entry item = queue::take_newest(*this, published);
  if (published) [[unlikely]] announce_work();
  return item;
}

// Ready threads and the queues of forks and of the policy take turns: a spawner's continuation may be what all the ready ones spin for.
// What is taken from a queue comes back to the ready threads, if at all: so a queue that nobody fills is emptied, whatever its order.
entry worker::pick_after_tick() noexcept {
  if (stands_aside()) return 0;
  queue_first_ = !queue_first_;
  if (queue_first_) {
    if (const entry item = take_newest(); item != 0) return item;
    if (home.asks_before_picks()) {
      if (const entry item = home.scheduler_policy().pick(rank, true); item != 0) return item;
    }
  }
  if (const entry item = pick_fairly(); item != 0) return item;
  if (const entry item = pick(); item != 0) return item;
  // Where many share a worker one shall come over here: to the inbox, when that worker makes its next thread ready.
  for (unsigned r = 0; r < home.workers(); ++r) {
    if (home.may_rob(rank, r) && !home.at(r).ready.looks_empty()) queue::request(home.at(r));
  }
  return 0;
}

// Now and then what comes from outside goes first: jobs that make jobs may not starve threads.
entry worker::pick_fairly() noexcept {
  home.fire_timers();
  thread* t = ready.pop();
  if (thread* chain = adopt_inbox(); chain != nullptr) {
    if (t == nullptr) return ready_entry(*chain);
    ready.push(*chain);
  }
  return t == nullptr ? 0 : ready_entry(*t);
}

thread* worker::adopt_inbox() noexcept {
  thread* chain = home.incoming().take_all();
  if (chain == nullptr) return nullptr;
  thread* first = chain;
  chain = chain->next;
  const bool more = chain != nullptr;
  while (chain != nullptr) {
    thread* t = chain;
    chain = t->next;
    ready.push(*t);
  }
  if (more) announce_work();
  return first;
}

void run_job(thread& self, detail::job* work) noexcept {
  std::uintptr_t word = work->word.load(std::memory_order_acquire);  // pairs with the waiting owner's exchange: its waiter
  if ((word & detail::job_waiter_bit) != 0) {
    word = reinterpret_cast<std::uintptr_t>(reinterpret_cast<detail::waiter*>(word & ~detail::job_waiter_bit)->payload);
  }
  worker* w = worker::current();
  trace::emit<trace::event::task_begin>(w->ring, 0u, work, word);  // its end: complete_job
  begin_user_code(self);
  reinterpret_cast<detail::job::code>(word)(work);
  end_user_code(self);
}

void run_jobs(thread* self) noexcept {
  run_job(*self, static_cast<detail::job*>(self->argument));
  serve(*self);
}

void serve(thread& self) noexcept {
  for (;;) {
    worker* w = worker::current();
    const entry item = w->pick();
    if (item != 0 && (item & (continuation_tag | ready_tag)) == 0) {
      run_job(self, reinterpret_cast<detail::job*>(item));
      continue;
    }
    // Not a job: thread_for takes no block from the cache, so it cannot hand out the stack that we are on.
    thread* next = w->thread_for(item);
    self.preemptive = nullptr;
    w->free_thread(self);
    w->depart(self, next, nothing);
    return;
  }
}

// --- ready threads -----------------------------------------------------------------------------------------------

void worker::make_ready(thread& t) noexcept {
  const bool next = running == nullptr && ready.looks_empty();  // in the run loop: this worker runs it at once
  ready.push(t);
  if (next) return;
  // After the push: with a sleeper's {request, heavy fence, look} these are Dekker's two sides.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // pairs with the sleeper's request through its heavy fence; another request that is missed here is seen next time
  if (requested.load(std::memory_order_relaxed)) [[unlikely]] share_ready();
}

void worker::share_ready() noexcept {
  thread* oldest = ready.pop();
  if (oldest == nullptr) return;  // a visitor was quicker
  queue::withdraw_request(*this);
  home.incoming().push(*oldest);
  announce_work();
}

void start_root(thread& t) noexcept {
  if (t.home->watches_roots()) [[unlikely]] {
    const worker* w = worker::current();
    const unsigned self = w != nullptr && &w->home == t.home ? w->rank : policy::nobody;
    const policy::placement where = t.home->scheduler_policy().started(self, t.scheduling);
    if (where.how == policy::placement::kind::send) {
      if (self == policy::nobody) return t.home->submit(t, where);
      return t.home->scheduler_policy().place(self, t.scheduling, where);
    }
  }
  make_ready_anywhere(t);
}

void make_ready_anywhere(thread& t) noexcept {
  worker* w = worker::current();
  if (w != nullptr && &w->home != t.home) w = nullptr;
  if (t.scheduling.word != nullptr) [[unlikely]] {
    const unsigned self = w != nullptr ? w->rank : policy::nobody;
    const policy::placement where = t.home->scheduler_policy().ready(self, t.scheduling);
    if (where.how == policy::placement::kind::send) {
      if (w == nullptr) return t.home->submit(t, where);
      return t.home->scheduler_policy().place(self, t.scheduling, where);
    }
  }
  if (w != nullptr) w->make_ready(t);
  else t.home->submit(t);
}

void worker::queue_child(thread& t) noexcept {
  if (detail::push(ready_entry(t)) == nullptr) make_ready(t);
}

void worker::announce_work() noexcept { home.wake_thief_of(rank); }

}  // namespace heddle::worker

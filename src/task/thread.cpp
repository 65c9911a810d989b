#include <heddle/thread.hpp>

#include <cstddef>
#include <cstdio>
#include <cstring>

#include <heddle/detail/wait.hpp>

#include "arch/arch.hpp"
#include "base/contracts.hpp"
#include "platform/platform.hpp"
#include "worker/inline.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle {

void this_thread::yield() noexcept { detail::yield(); }

namespace detail {

namespace {

using block = fiber::thread;

block* block_of(thread_handle* t) noexcept { return reinterpret_cast<block*>(t); }

// Called when `t` has ended, on another stack than its own, so the stack that a light thread was given can be taken
// back.
void leave_stack(block& t) noexcept {
  if (fiber::is_light(t)) worker::worker::current().blocks.take_stack_back(t);
}

// Does the same, and after that its joiner may have its block.
void complete(void* data, void*) {
  auto& t = *static_cast<block*>(data);
  leave_stack(t);
  const fiber::completion::state before = t.completion.finish();
  if (before.is_detached()) return worker::free_thread(t);
  if (waiter* joiner = before.awaited_by(); joiner != nullptr) wake(*joiner);
}

// Returns true if neither a level nor a pin decides where and when the joiner goes on.
[[gnu::always_inline]] inline bool may_go_straight_to(const block& joiner) noexcept {
  const worker::precedence& levels = joiner.home->precedence();
  return !levels.decides() || (!levels.is_used() && !joiner.ties.belongs.is_pinned());
}

// It is a function of its own, so that threads which end in other ways save no registers for it.
[[gnu::noinline]] void depart_in_turn(block& self) noexcept {
  worker::worker& me = worker::worker::current();
  me.depart(self, me.thread_for(me.pick()), complete);
}

template <bool Preemptive>
void enter(block* self) noexcept {
  if constexpr (Preemptive) worker::begin_preemptive(*self->preemptive);
  else base::allow_malloc();
  self->function(self->body.closure);
  if constexpr (Preemptive) {
    worker::end_preemptive(*self->preemptive);
    self->preemptive = nullptr;
  } else {
    base::forbid_malloc("at the end of a thread");
  }
  if (self->scheduling.tag != nullptr) [[unlikely]] {
    worker::worker::current().end_task(*self);
  }
  worker::census::count_finished(worker::worker::current());
  const fiber::completion::state asked = self->completion.now();
  if (asked.is_called()) {
    worker::worker::current().running = self->ties.joiner;
    return;
  }
  if (waiter* const w = asked.awaited_by(); w != nullptr) {
    // The joiner sleeps already. If it is one of ours, we switch straight to it, past all queues.
    auto* joiner = static_cast<block*>(w->thread);
    if (joiner != nullptr && joiner->home == self->home && joiner->scheduling.tag == nullptr &&
        may_go_straight_to(*joiner)) {
      // relaxed, and no claim: no other thread can resume a joiner
      w->reason.store(static_cast<std::uint32_t>(wake_reason::notified), std::memory_order_relaxed);
      return worker::worker::current().depart(*self, joiner, [](void* data, void*) {
        leave_stack(*static_cast<block*>(data));
        static_cast<block*>(data)->completion.finish_awaited();
      });
    }
  }
  depart_in_turn(*self);
}

[[gnu::always_inline]] inline made_thread prepare(block& t, const thread_options& options, fiber::kind how,
                                                  std::size_t bytes, std::size_t alignment,
                                                  void (*call)(void*) noexcept) noexcept {
  char* room = fiber::argument_area(worker::top_of(t, how), bytes, alignment < 16 ? 16 : alignment);
  // It is never called by a joiner, because the joiner's own storage and kernel thread would have to come back.
  if (how.bordered()) {
    worker::start_at(t, room, enter<true>);
  } else {
    t.stack_pointer = fiber::not_begun(room);
    t.body.start = enter<false>;
  }
  t.body.closure = room;
  t.function = call;
  t.shown.name = options.name;
  return {reinterpret_cast<thread_handle*>(&t), room};
}

// Light threads, which get a stack when they begin, are those that are not preemptive, of the normal level, with stacks
// of the default size and with small closures. This tests the last condition.
bool is_light(std::size_t bytes, std::size_t alignment) noexcept {
  return bytes <= fiber::light_threads::room && alignment <= alignof(block);
}

[[noreturn, gnu::noinline]] void throw_no_stack(worker::runtime& home, std::size_t bytes) {
  throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                          "heddle: no stack of " + std::to_string(bytes == 0 ? home.options().stack_size : bytes) +
                              " bytes for a thread (" + std::to_string(home.stacks().live()) + " live)");
}

// Makes a thread for callers that are preemptive or foreign, for an explicit kind, size or runtime, and for workers
// that have no block at hand. Nothing is thrown inside the section, because the section's end changes the thread-local
// storage with which exceptions are handled.
[[gnu::noinline]] made_thread make_any_thread(const thread_options& options, std::size_t bytes, std::size_t alignment,
                                              void (*call)(void*) noexcept) {
  worker::runtime& home = options.where != nullptr ? options.where->core() : worker::here();
  const fiber::kind how = worker::kind_of(home, options.preemption, options.tls);
  home.precedence().use(options.priority);
  const bool pinned = options.worker != any_worker;
  if (pinned) home.precedence().expect_pinned(options.worker);
  made_thread made{nullptr, nullptr};
  {
    const worker::section inside;
    const bool light = !how.bordered() && options.stack_size == 0 && options.priority == priority::normal &&
                       is_light(bytes, alignment);
    if (block* t = light ? worker::new_light(home) : worker::new_block(home, options.stack_size); t != nullptr) {
      // relaxed: published with the thread itself
      t->level.store(static_cast<std::int8_t>(options.priority), std::memory_order_relaxed);
      if (pinned) t->ties.belongs.pin(options.worker);
      made = prepare(*t, options, how, bytes, alignment, call);
    }
  }
  if (made.thread == nullptr) throw_no_stack(home, options.stack_size);
  return made;
}

// The options from `preemption` on lie side by side in eight bytes, and are compared as one number.
static_assert(offsetof(thread_options, tls) == offsetof(thread_options, preemption) + 1 &&
              offsetof(thread_options, worker) == offsetof(thread_options, preemption) + 2 &&
              offsetof(thread_options, priority) == offsetof(thread_options, preemption) + 4 && sizeof(priority) == 4 &&
              sizeof(thread_options) == offsetof(thread_options, preemption) + 8);
std::uint64_t small_options(const thread_options& options) noexcept {
  std::uint64_t word;
  std::memcpy(&word, reinterpret_cast<const char*>(&options) + offsetof(thread_options, preemption), sizeof word);
  return word;
}
constexpr std::uint64_t usual_options = std::uint64_t{static_cast<unsigned>(preemption::as_runtime)} |
                                        std::uint64_t{static_cast<unsigned>(tls::as_runtime)} << 8 |
                                        std::uint64_t{any_worker} << 16;

}  // namespace

made_thread make_thread(const thread_options& options, std::size_t bytes, std::size_t alignment,
                        void (*call)(void*) noexcept) {
  const worker::caller who = worker::caller::now();
  // One branch tests for all options that differ from the default.
  const std::uintptr_t unusual =
      reinterpret_cast<std::uintptr_t>(options.where) | options.stack_size | (small_options(options) ^ usual_options);
  if (who.is_foreign() || (unusual | who.queue().preempts) != 0) [[unlikely]]
    return make_any_thread(options, bytes, alignment, call);
  worker::worker& w = who.on();
  if (is_light(bytes, alignment)) [[likely]] {
    block* t = w.blocks.cached_light();
    if (t == nullptr) [[unlikely]]
      return make_any_thread(options, bytes, alignment, call);
    worker::renew_light(*t, w.home);
    return prepare(*t, options, {}, bytes, alignment, call);
  }
  block* t = w.blocks.cached_block();
  if (t == nullptr) [[unlikely]]
    return make_any_thread(options, bytes, alignment, call);
  worker::renew_thread(*t, w.home);
  return prepare(*t, options, {}, bytes, alignment, call);
}

void start_thread(thread_handle* handle) noexcept {
  const worker::caller who = worker::caller::now();
  if (who.is_user_code()) [[unlikely]]
    return worker::in_section([&] { start_thread(handle); });
  worker::worker* w = who.on_or_null();
  block* t = block_of(handle);
  if (w != nullptr) trace::emit<trace::event::thread_create>(w->ring, t->id, t->function);
  const bool ours = w != nullptr && &w->home == t->home;
  t->home->census().count_made(ours ? w : nullptr);
  if (ours && !w->home.host().wants().roots) [[likely]] {
    return fiber::is_not_begun(t->stack_pointer) ? w->make_new_ready(*t) : w->make_ready(*t);
  }
  worker::start_root(*t, reinterpret_cast<const void*>(t->function));
}

void join_thread(thread_handle* handle) noexcept {
  const worker::caller who = worker::caller::now();
  block* t = block_of(handle);
  worker::worker* w = nullptr;
  if (!who.is_foreign()) [[likely]] {
    if (who.is_user_code()) [[unlikely]]
      return worker::in_section([&] { join_thread(handle); });
    w = &who.on();
    if (&w->home == t->home) [[likely]] {
      block* self = w->current_thread();
      self->shown.waits_for = "thread";
      const bool has_ended = w->call(*self, *t, enter<false>);
      self->shown.waits_for = nullptr;
      w = &worker::worker::current();
      if (has_ended) return fiber::is_light(*t) ? w->blocks.free_light(*t) : w->blocks.free_thread(*t);
    }
  }
  if (!t->completion.now().is_finished()) {
    if (w != nullptr) w->learn_from_join();
    waiter sleeper("thread");
    suspend(
        sleeper, [](void* data, waiter& me) noexcept { return static_cast<block*>(data)->completion.await(me); }, t);
    w = worker::worker::current_or_null();
  }
  if (w != nullptr) trace::emit<trace::event::thread_join>(w->ring, t->id);
  worker::free_thread(*t);
}

void detach_thread(thread_handle* handle) noexcept {
  const worker::section inside;
  block* t = block_of(handle);
  if (!t->completion.detach()) worker::free_thread(*t);
}

std::uint64_t id_of(const thread_handle* handle) noexcept { return reinterpret_cast<const block*>(handle)->id; }

std::uint64_t current_thread_id() noexcept {
  const worker::section inside;
  worker::worker* w = worker::worker::current_or_null();
  return w == nullptr ? 0 : w->current_thread()->id;
}

void uncaught_in_thread() noexcept {
  const auto [id, name] = [] {
    const worker::section inside;
    const fiber::thread& self = *worker::worker::current().current_thread();
    return std::pair(static_cast<unsigned long long>(self.id),
                     self.shown.name != nullptr ? self.shown.name : "unnamed");
  }();
  std::fprintf(stderr, "heddle: an exception left the function of thread %llu (%s)\n", id, name);
  std::terminate();
}

}  // namespace detail
}  // namespace heddle

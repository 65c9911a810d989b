// The beginning of a thread: its control block is made new, and the first frame is written on its stack.
#pragma once

#include <cstddef>

#include <heddle/preemption.hpp>

#include "fiber/preemptible.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/thread.hpp"
#include "platform/platform.hpp"

namespace heddle::worker {

class runtime;
using fiber::thread;

// Makes a control block new.
inline void renew_thread(thread& t, runtime& home) noexcept {
  fiber::reuse_stack(t);
  t.home = &home;
  t.completion.renew();
  t.spawns.store(0, std::memory_order_relaxed);  // published with the thread itself
  t.taken = false;
  t.counted = false;
  t.level.store(0, std::memory_order_relaxed);  // published with the thread itself
  t.scheduling.tag = nullptr;
  t.shown.waits_for = nullptr;
  t.shown.name = nullptr;
  t.ties.belongs.clear();
  if constexpr (platform::simulated) t.ties.worker_rank = fiber::no_worker;
}
// The same for a light one. It is nobody's child and of the normal level, and leaves nothing behind in the other
// fields.
inline void renew_light(thread& t, runtime& home) noexcept {
  t.home = &home;
  t.completion.renew();
  t.scheduling.tag = nullptr;
  t.ties.belongs.clear();
  if constexpr (platform::simulated) t.ties.worker_rank = fiber::no_worker;
}
// Returns the address below which the stack of a new thread of that kind begins.
[[gnu::always_inline]] inline void* top_of(thread& t, fiber::kind how) noexcept {
  if (!how.bordered()) [[likely]]
    return &t;
  return fiber::make_preemptible(t, how);
}
// Returns a control block with a stack of at least that size, made new, but not prepared (start_at), from any kernel
// thread. Returns null if there is no memory, or no class is that large.
[[nodiscard]] thread* new_block(runtime& home, std::size_t stack_bytes) noexcept;
// The same without a stack, which the thread is given when it begins. Returns null if there is no memory, or none for
// its stack.
[[nodiscard]] thread* new_light(runtime& home) noexcept;
// Called on any kernel thread, by code of any runtime. The thread's runtime may be gone.
void free_thread(thread& t) noexcept;

// Returns the kind that is asked for, with the runtime's default put in, and starts whatever that kind needs. Throws
// std::system_error(not_supported) if the kind is not available here.
[[nodiscard]] fiber::kind kind_of(runtime& home, preemption technique, tls storage);

// Writes the first frame of a thread that has none. Gives it a stack first if it was made without one. Called by the
// worker that is about to go to it.
void begin(thread& t) noexcept;
// Its stack, from `stack_top` downwards, starts with body(&t).
void start_at(thread& t, void* stack_top, void (*body)(thread*)) noexcept;

}  // namespace heddle::worker

// The seam of platform.hpp over the engine: kernel threads, sleeping and waking, fences, and the scheduler's
// operations.
#include <pthread.h>

#include <cerrno>

#include <heddle/pause.hpp>

#include "base/contracts.hpp"
#include "platform/explored.hpp"
#include "platform/platform.hpp"
#include "platform/sim/engine.hpp"
#include "platform/sim/weak_memory.hpp"

namespace heddle::platform {

namespace {

std::atomic<std::uint64_t> forks{0};  // written in forked children by the handler below

[[maybe_unused]] const bool fork_handler_installed = [] {
  pthread_atfork(nullptr, nullptr, [] {
    forks.fetch_add(1);
    if (sim::active != nullptr) sim::active->keep_only_self();
  });
  return true;
}();

}  // namespace

std::uint64_t fork_count() noexcept { return forks.load(); }
void when_forked(void (*)()) noexcept {}  // there is no own storage here

void around_fork(void (*before)(), void (*after)(), void (*in_child)()) noexcept {
  pthread_atfork(before, after, in_child);
}

int current_unit() noexcept { return sim::active != nullptr ? sim::here().bound_unit() : -1; }
bool foreign_threads_run_calls() noexcept { return sim::active != nullptr && sim::here().explores(); }

void yield_processor() noexcept { sim::here().yield(); }

void keep_deadlines_exactly() noexcept {}

void wait_on(std::atomic<std::uint32_t>& word, std::uint32_t expected, nanoseconds deadline) noexcept {
  sim::engine& e = sim::here();
  e.charge(sim::activity::search, e.settings().times.sleep);
  // Nothing comes between this look and the sleep, because both are one event.
  if (word.load() != expected) return;
  const sim::picoseconds limit =
      deadline == 0 || deadline > sim::never / sim::nanosecond ? sim::never : deadline * sim::nanosecond;
  if (limit <= e.now()) return;
  e.sleep(&word, limit);
}

void wake_one(std::atomic<std::uint32_t>& word) noexcept {
  sim::engine& e = sim::here();
  e.charge(sim::activity::scheduler, e.settings().times.wake);
  e.wake(&word, 1);
}

void wake_all(std::atomic<std::uint32_t>& word) noexcept {
  sim::engine& e = sim::here();
  e.charge(sim::activity::scheduler, e.settings().times.wake);
  e.wake(&word, ~0u);
}

// There is one kernel thread, so every fence holds for all strands, except for weak atomics. Its cost alone remains.
void heavy_fence() noexcept {
  sim::engine& e = sim::here();
  e.charge(sim::activity::search, e.settings().times.heavy_fence);
  if (sim::weak_memory* const weak = e.weak(); weak != nullptr) [[unlikely]]
    weak->heavy_fence(e.self().id);
}

int start(kernel_thread& out, void (*entry)(void*), void* argument, const char* name, int processing_unit) noexcept {
  sim::strand* s = sim::here().start(entry, argument, name, processing_unit);
  if (s == nullptr) return EAGAIN;
  out.handle = s->id;  // not an address, because traces hold it
  return 0;
}

int start_without_signals(kernel_thread& out, void (*entry)(void*), void* argument, const char* name) noexcept {
  return start(out, entry, argument, name);
}

explanation why_not_started(int) noexcept { return {"the machine has no more"}; }

void join(kernel_thread& thread) noexcept {
  sim::engine& e = sim::here();
  if (thread.handle != 0) e.join(*e.strands()[thread.handle]);
  thread.handle = 0;
}

bool try_join(kernel_thread& thread) noexcept {
  sim::engine& e = sim::here();
  if (thread.handle != 0 && e.strands()[thread.handle]->state != sim::strand_state::ended) return false;
  join(thread);
  return true;
}

bool bind_self(int processing_unit) noexcept { return sim::here().bind(processing_unit); }
bool bind(int, int) noexcept { return false; }

void charge(operation what, unsigned distance) noexcept {
  sim::engine& e = sim::here();
  const sim::operation_times& t = e.settings().times;
  switch (what) {
    case operation::fork: ++e.counts().forks; return e.charge(sim::activity::scheduler, t.fork);
    case operation::join: return e.charge(sim::activity::scheduler, t.join);
    case operation::spawn: ++e.counts().forks; return e.charge(sim::activity::scheduler, t.spawn);
    case operation::thread_switch: return e.charge(sim::activity::scheduler, t.thread_switch);
    case operation::migration: ++e.counts().migrations; return;
    case operation::steal:
      ++e.counts().steals;
      return e.charge(sim::activity::scheduler, t.steal + (distance > 1 ? distance - 1 : 0) * t.steal_per_level);
    case operation::failed_steal: ++e.counts().failed_steals; return e.charge(sim::activity::search, t.failed_steal);
    case operation::look: return e.charge(sim::activity::search, t.failed_steal);
  }
}

void runtime_started(const void* runtime, const char* policy, unsigned workers, void (*report)(const void*)) {
  sim::engine& e = sim::here();
  e.runtimes().push_back({runtime, policy, workers, e.now(), sim::never, report});
}

bool watches_forks() noexcept { return sim::here().watches_forks(); }

bool reminds() noexcept { return sim::here().reminds(); }

void promise_work_conservation(const void* runtime, bool (*is_broken)(const void*)) {
  for (sim::runtime_note& note : sim::here().runtimes()) {
    if (note.runtime == runtime && note.end == sim::never) note.is_broken = is_broken;
  }
}

void runtime_ended(const void* runtime) noexcept {
  sim::engine& e = sim::here();
  for (sim::runtime_note& note : e.runtimes()) {
    if (note.runtime == runtime && note.end == sim::never) note.end = e.now();
  }
}

}  // namespace heddle::platform

// One turn of a loop that waits for another kernel thread (arch/arch.hpp).
extern "C" void heddle_sim_pause() noexcept {
  heddle::sim::engine& e = heddle::sim::here();
  e.spin(e.settings().times.pause);
}

// The same in user code.
void heddle_pause() noexcept {
  heddle::sim::engine& e = heddle::sim::here();
  e.spin_in_program(e.settings().times.pause);
}

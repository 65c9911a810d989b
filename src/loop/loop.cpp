// The functions of the runtime that loops need, out of line.
#include <heddle/detail/loop_tree.hpp>
#include <heddle/thread.hpp>

#include <algorithm>
#include <memory>
#include <new>

#include "arch/arch.hpp"
#include "loop/joining.hpp"
#include "loop/open_range.hpp"
#include "loop/ranges.hpp"
#include "platform/platform.hpp"
#include "queue/fork_queue.hpp"
#include "trace/emit.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

constexpr std::uint32_t measure_every = 8;
constexpr unsigned workers_of_a_graph = 128;  // the most workers for which `heddle dag` estimates a speed-up

// Belongs to the kernel thread. The functions below do not switch, so its address may be kept within each.
constinit thread_local std::uint32_t unmeasured __attribute__((tls_model("initial-exec"))) = 0;

bool take_turn() noexcept {
  if (++unmeasured < measure_every) return false;
  unmeasured = 0;
  return true;
}

// [inline:2] True if no worker sleeps, or if a worker searches that sees an entry which was queued before.
[[gnu::always_inline]] inline bool has_somebody_awake(const sync::idle_set& idle) noexcept {
  if (!idle.anyone_asleep()) [[likely]]
    return true;
  // pairs with the fence of worker::find_work: the searcher sees the entry
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return idle.anyone_searching();
}

}  // namespace

loop_start loop_begin() noexcept {
  // relaxed: a constant, computed more than once at worst
  if (loop_cycles_per_microsecond.load(std::memory_order_relaxed) == 0) {
    loop_cycles_per_microsecond.store(static_cast<std::uint32_t>(platform::cycles_per_microsecond()),
                                      std::memory_order_relaxed);
  }
  const worker::section inside;
  const worker::worker& me = worker::worker::current();
  // If every fork is traced, the graph of the program is wanted, not that of this run, so the loop is cut for many
  // workers.
  const unsigned workers = me.every_join ? std::max(me.home.workers(), workers_of_a_graph) : me.home.workers();
  const policy::policy_wants& wants = me.home.host().wants();
  if (me.ring != nullptr) [[unlikely]]
    name_joining_jobs();
  return {workers,
          take_turn(),
          me.every_fork,
          me.ring != nullptr,
          me.home.options().loop.how != loop_schedule::kind::adaptive,
          !wants.limits && !wants.asks};
}

loop_schedule loop_by_default() noexcept {
  const worker::section inside;
  return worker::worker::current().home.options().loop;
}

void loop_trace_begin(std::size_t iterations, std::size_t grain) noexcept {
  const worker::section inside;
  trace::emit<trace::event::loop_begin>(worker::worker::current().ring, iterations, grain);
}

void loop_trace_end() noexcept {
  const worker::section inside;
  trace::emit<trace::event::loop_end>(worker::worker::current().ring);
}

unannounced_start loop_begin_unannounced() noexcept {
  const worker::section inside;
  worker::worker& me = worker::worker::current();
  // Read after the entry was queued. A worker that falls asleep looks at every queue after a heavy fence. So either
  // that worker sees the entry, or this function sees that it sleeps ([inline:2]).
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const sync::idle_set& idle = me.home.sleepers().idle();
  if (me.every_fork) [[unlikely]] {
    if (!me.every_join) return {false, false, true};
    queue::keep_none(me);  // no fork pushed the entry
    // A pop is followed by a join then, and not by a second push.
    if (idle.anyone_asleep()) me.announce_queued();
    return {true, take_turn(), false};
  }
  return {has_somebody_awake(idle), take_turn(), false};
}

unsigned loop_worker() noexcept {
  const worker::section inside;
  return worker::worker::current().rank;
}

void loop_measure_next() noexcept { unmeasured = measure_every; }

loop_load loop_load_now() noexcept {
  const worker::section inside;
  worker::runtime& home = worker::worker::current().home;
  return {home.sleepers().idle().searchers(), home.crowded()};
}

bool loop_has_ready_beside() noexcept {
  const worker::section inside;
  const worker::worker& me = worker::worker::current();
  return !me.ready.looks_empty();
}

void loop_show(unsigned most) noexcept {
  const worker::section inside;
  worker::worker& me = worker::worker::current();
  if (!queue::show(me, most)) return;
  if (most > 1) me.home.host().tell_of(me.rank);
  me.announce_answer();
}

void loop_end_showing(unsigned worker) noexcept {
  const worker::section inside;
  worker::worker::current().home.host().tell_no_more_of(worker);
}

bool loop_may_be_unannounced() noexcept {
  const worker::section inside;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // as in loop_begin_unannounced
  return has_somebody_awake(worker::worker::current().home.sleepers().idle());
}

void loop_show_next() noexcept {
  const worker::section inside;
  queue::stand(worker::worker::current());
}

unsigned loop_distance(unsigned worker, unsigned other) noexcept {
  const worker::section inside;
  return worker::worker::current().home.host().distance(worker, other);
}

void loop_note_steal(unsigned victim) noexcept {
  const worker::section inside;
  worker::worker& me = worker::worker::current();
  const bool needs_distance = platform::simulated || me.ring != nullptr;
  const unsigned distance = needs_distance ? me.home.host().distance(me.rank, victim) : 0;
  trace::emit<trace::event::steal_attempt>(me.ring, victim);
  me.counts.steals.fetch_add(1, std::memory_order_relaxed);  // a statistic
  platform::charge(platform::operation::steal, distance);
  trace::emit<trace::event::steal_success>(me.ring, victim, distance, 0);  // a part of a loop is not a task
}

unsigned loop_askers() noexcept {
  const worker::section inside;
  const worker::worker& me = worker::worker::current();
  const queue::askers* all = me.home.host().askers_of_all();
  return all != nullptr ? all->count(me.rank) : 0;
}

loop_wait loop_spin(const job& work) noexcept {
  std::uint64_t start = 0;
  for (int i = 0;; ++i) {
    const bool ended = work.now().is_over();
    if (ended && i == 0) return {0, true};
    if (ended || i % 16 == 1) {
      const std::uint64_t now = loop_cycles();
      if (start == 0) start = now;
      // relaxed: constant by this time
      const bool enough =
          now - start >= spin_nanoseconds * loop_cycles_per_microsecond.load(std::memory_order_relaxed) / 1000;
      if (ended || enough) return {now - start + 1, ended};
    }
    arch::pause();
  }
}

namespace {

struct member_thread {
  void (*call)(void*, std::size_t) noexcept;
  void* argument;
  std::size_t member;
  const bool& may_begin;  // written before the thread is started

  static void run(void* room) noexcept {
    const auto& me = *static_cast<const member_thread*>(room);
    if (me.may_begin) me.call(me.argument, me.member);
  }
};

}  // namespace

void run_on_each_worker(void (*call)(void*, std::size_t) noexcept, void* argument, std::size_t members) {
  const auto threads = std::make_unique<thread_handle*[]>(members);
  std::size_t made = 0;
  bool may_begin = false;
  const auto end_all = [&] {
    for (std::size_t k = 0; k < made; ++k) start_thread(threads[k]);
    for (std::size_t k = 0; k < made; ++k) join_thread(threads[k]);
  };
  try {
    for (; made < members; ++made) {
      const made_thread t = make_thread({.worker = static_cast<std::uint16_t>(made)}, sizeof(member_thread),
                                        alignof(member_thread), &member_thread::run);
      ::new (t.room) member_thread{call, argument, made, may_begin};
      threads[made] = t.thread;
    }
  } catch (...) {
    end_all();
    throw;
  }
  may_begin = true;
  end_all();
}

}  // namespace heddle::detail

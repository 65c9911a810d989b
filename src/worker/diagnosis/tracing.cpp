#include "worker/diagnosis/tracing.hpp"

#include <heddle/trace.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "platform/platform.hpp"
#include "queue/fork_queue.hpp"
#include "sync/mutex.hpp"
#include "trace/file.hpp"
#include "trace/outside.hpp"
#include "worker/runtime.hpp"

namespace heddle::worker::tracing {

namespace {

// How long an abort() waits for traces to be written.
constexpr platform::nanoseconds longest_wait = 10'000'000'000;

// The words by which the handler and the keeper communicate. The handler reads and writes these and nothing else.
// The futex word of the keeper, raised by the handler and by the thread that ends the keeper.
std::atomic<std::uint32_t> calls{0};
std::atomic<int> deadly{0};  // the signal; written by handlers
// The kernel thread that got the signal waits in its handler. Written before `deadly`.
std::atomic<bool> aborting{false};
// The futex word of a handler that waits: the traces are written. Set by the keeper.
std::atomic<std::uint32_t> written{0};
// The fork count of the process that has a keeper. Written under `registry::mutex`.
std::atomic<std::uint64_t> keeper_of{~std::uint64_t{0}};

// A keeper stays where it is until it is joined, because its kernel thread begins with the data that lie in it. Each
// has an end flag of its own, because the next keeper may be there before the kernel thread of this keeper has seen the
// flag.
struct keeper_thread {
  platform::kernel_thread kernel;
  std::atomic<bool> ends{false};
};

struct registry {
  sync::slow_mutex mutex;             // guards the other members, and is held while files are written
  std::vector<const runtime*> homes;  // the runtimes that record
  std::uint64_t forks{0};             // of the process to which they belong
  std::unique_ptr<keeper_thread> keeper;
};

registry& the_registry() {
  static auto& known = *new registry;  // never destroyed: runtimes of static storage duration end when they end
  return known;
}

void say(const char* text) noexcept { platform::write_error(text, std::char_traits<char>::length(text)); }

// Async-signal-safe: atomics, futex calls, write() and the platform's signal calls.
void on_deadly_signal(int signal, bool aborts) noexcept {
  // In a child of fork() nothing is written: its parent's traces are its parent's.
  if (keeper_of.load() != platform::fork_count()) return platform::die_of(signal);
  aborting.store(aborts);
  deadly.store(signal);
  calls.fetch_add(1);
  platform::wake_all(calls);
  // [ended:6] An interrupted or terminated program goes on until the keeper ends it, because it may hold what the
  // keeper needs. A program that aborts must not go on.
  if (!aborts) return;
  const platform::nanoseconds limit = platform::now() + longest_wait;
  while (written.load() == 0 && platform::now() < limit) platform::wait_on(written, 0, limit);
  if (written.load() == 0)
    say("heddle: the trace could not be written: the aborting thread holds what writing it needs\n");
  platform::die_of(signal);
}

// [ended:7] The traces are written: the handler that waits ends the process, or, if none does, the calling thread.
void end_process(int signal) noexcept {
  written.store(1);
  platform::wake_all(written);
  if (!aborting.load()) platform::die_of(signal);
}

void save_or_tell() noexcept {
  try {
    static_cast<void>(save_all());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heddle: %s\n", e.what());
  }
}

void keep(void* argument) {
  const auto& self = *static_cast<keeper_thread*>(argument);
  std::uint32_t seen = 0;
  for (;;) {
    platform::wait_on(calls, seen);
    seen = calls.load();
    if (const int signal = deadly.load(); signal != 0) {
      save_or_tell();
      return end_process(signal);
    }
    if (self.ends.load()) return;
  }
}

void save(const runtime& home) {
  trace::recording all = home.recorder()->collect();
  if (outside().foreign()->written() != 0) trace::add_outside(all, outside().collect());
  trace::save(all, home.options().trace_file);
}

// Under the mutex. In a child of fork() the parent's runtimes have no workers, and the parent's keeper does not exist.
void forget_parents(registry& all) noexcept {
  if (all.forks == platform::fork_count()) return;
  all.forks = platform::fork_count();
  all.homes.clear();
  all.keeper.reset();
}

}  // namespace

registration::registration(const runtime& home) : home_(&home) {
  registry& all = the_registry();
  static_cast<void>(outside());
  const std::lock_guard hold(all.mutex);
  forget_parents(all);
  static const bool at_exit = std::atexit(save_or_tell) == 0;
  static_cast<void>(at_exit);
  all.homes.push_back(&home);
  trace::detail::recording_runtimes.fetch_add(1, std::memory_order_relaxed);  // is_recording: a hint
  if (platform::simulated || all.keeper != nullptr) return;
  auto keeper = std::make_unique<keeper_thread>();
  // Without signals, because an abort that came to the keeper would wait for the keeper [ended:6].
  if (platform::start_without_signals(keeper->kernel, keep, keeper.get(), "heddle-trace") != 0) return;
  all.keeper = std::move(keeper);
  keeper_of.store(all.forks);
  platform::on_deadly_signals(on_deadly_signal);
}

registration::~registration() { leave(false); }
void registration::finish() noexcept { leave(true); }

void registration::leave(bool write) noexcept {
  const runtime* const home = std::exchange(home_, nullptr);
  if (home == nullptr) return;
  registry& all = the_registry();
  std::unique_ptr<keeper_thread> keeper;
  {
    const std::lock_guard hold(all.mutex);
    forget_parents(all);
    const auto mine = std::find(all.homes.begin(), all.homes.end(), home);
    if (mine == all.homes.end()) return;
    if (write) try {
        save(*home);
      } catch (const std::exception& e) {
        std::fprintf(stderr, "heddle: %s\n", e.what());
      }
    all.homes.erase(mine);
    trace::detail::recording_runtimes.fetch_sub(1, std::memory_order_relaxed);  // is_recording: a hint
    if (!all.homes.empty() || all.keeper == nullptr) return;
    platform::on_deadly_signals(nullptr);
    if (deadly.load() != 0) return;  // the keeper is about to end the process
    keeper = std::move(all.keeper);
    keeper->ends.store(true);
  }
  calls.fetch_add(1);
  platform::wake_all(calls);
  platform::join(keeper->kernel);
  // A signal may have come while the handlers were removed: the keeper may have seen its end first.
  if (const int signal = deadly.load(); signal != 0) end_process(signal);
}

unsigned save_all() {
  registry& all = the_registry();
  const std::lock_guard hold(all.mutex);
  forget_parents(all);
  unsigned count = 0;
  std::optional<trace::trace_error> failed;
  for (const runtime* home : all.homes) {
    try {
      save(*home);
      ++count;
    } catch (const trace::trace_error& e) {
      failed.emplace(e);
    }
  }
  if (failed) throw trace::trace_error(*failed);
  return count;
}

trace::recorder& outside() {
  static trace::recorder& all = *new trace::recorder(0, [] {
    trace::recorder_options options;
    options.now = platform::now;
    options.attributes.emplace("event_ns", "0");  // no tool asks for it
    return options;
  }());
  return all;
}

namespace {

// The numbers of the names used last, of this kernel thread. They are kept because recorder::text locks and compares.
struct known_name {
  std::uint64_t recorder;
  const char* name;
  std::uint32_t number;
};
// initial-exec: no malloc at the first access
constinit thread_local known_name known[4] __attribute__((tls_model("initial-exec"))) = {};

}  // namespace

std::uint32_t number_of(trace::recorder& of, const char* text) noexcept {
  known_name& slot = known[(reinterpret_cast<std::uintptr_t>(text) >> 3) % std::size(known)];
  if (slot.recorder != of.serial() || slot.name != text) slot = {of.serial(), text, of.text(text)};
  return slot.number;
}

[[gnu::noinline]] void note_wait(worker& on, const detail::waiter& w) noexcept {
  trace::emit<trace::event::wait_begin>(on.ring, number_of(*on.home.recorder(), w.what), w.object, w.place);
}

void lock_for_fork() noexcept { the_registry().mutex.lock(); }
void unlock_after_fork() noexcept { the_registry().mutex.unlock(); }

// --- the cost -------------------------------------------------------------------------------------------------------

std::uint64_t cost_of_traced_fork() noexcept {
  if constexpr (platform::simulated) return 0;
  constexpr std::size_t capacity = 64;
  constexpr unsigned rounds = 5, forks = 200;
  const std::unique_ptr<detail::slot[]> memory(new (std::nothrow) detail::slot[queue::slots_for(capacity)]());
  if (memory == nullptr) return 0;
  detail::fork_queue q;
  queue::attach(q, memory.get(), capacity);
  static_cast<void>(queue::watch_every_fork(q, true, true));
  std::uint64_t least = ~std::uint64_t{0};
  for (unsigned round = 0; round < rounds; ++round) {
    const platform::nanoseconds start = platform::now();
    for (unsigned i = 0; i < forks; ++i) {
      detail::slot* const position = detail::store_newest(q, 4);
      static_cast<void>(queue::push(q, position));
      detail::remove_newest(q, position);
      static_cast<void>(queue::pop(q, position));
    }
    least = std::min<std::uint64_t>(least, (platform::now() - start) / forks);
  }
  return least;
}

}  // namespace heddle::worker::tracing

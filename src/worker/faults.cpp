#include "worker/faults.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <exception>

#include "base/readable.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

namespace {

constexpr std::size_t frames_shown = 24;

[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept {
  char text[400];
  va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  platform::write_error(text, length < static_cast<int>(sizeof text) ? static_cast<std::size_t>(length) : sizeof text - 1);
}

// These look at threads while others run them: a dump is of a program that hangs or has failed, and what it says of the rest is a hint.
HEDDLE_NO_TSAN const char* name_of(const thread& t) noexcept { return t.name != nullptr ? t.name : "unnamed"; }

HEDDLE_NO_TSAN unsigned long long id_of(const thread& t) noexcept { return static_cast<unsigned long long>(t.id); }

HEDDLE_NO_TSAN const thread* running_on(const worker& w) noexcept { return static_cast<const thread*>(w.running); }

HEDDLE_NO_TSAN const char* reason_of(const thread& t) noexcept { return t.waits_for; }

bool print_frame(const char* address) noexcept {
  const platform::symbol s = reinterpret_cast<std::uintptr_t>(address) < 4096 ? platform::symbol{nullptr, nullptr} : platform::symbol_at(address);
  if (s.name == nullptr || s.start == address) return false;
  const auto into = static_cast<std::size_t>(address - static_cast<const char*>(s.start));
  try {
    say("      %s+0x%zx\n", base::readable(s.name).c_str(), into);
  } catch (const std::exception&) {
    say("      %s+0x%zx\n", s.name, into);
  }
  return true;
}

// The stack of a parked thread: unwound where nobody can resume it meanwhile (in the simulator), else code addresses found by a
// scan: stale ones may show, none is missed. A debugger unwinds exactly (docs/guide/debugging.md).
HEDDLE_NO_TSAN void print_stack(const thread& t) noexcept {
  std::array<const void*, frames_shown> frames;
  if (const std::size_t found = platform::unwind(t.stack_pointer, frames.data(), frames.size()); found != 0) {
    for (std::size_t i = 0; i < found; ++i) print_frame(static_cast<const char*>(frames[i]));
    return;
  }
  if (t.stack_pointer < t.stack_low || t.stack_pointer >= &t) return;  // its stack went back to the system meanwhile
  const auto* frame = static_cast<const arch::switch_frame*>(t.stack_pointer);
  const auto* word = reinterpret_cast<const std::uintptr_t*>(frame + 1);
  const auto* top = reinterpret_cast<const std::uintptr_t*>(&t);
  std::uintptr_t value = frame->return_address;
  for (std::size_t shown = 0; word < top && shown < frames_shown; value = *word++) {
    if (print_frame(reinterpret_cast<const char*>(value))) ++shown;
  }
}

}  // namespace

void explain_fault(const void* address) noexcept {
  const worker* w = worker::current();
  if (w == nullptr) return;
  // A preemptive thread's queue, which is no worker, has a thread. Not that thread's guard alone: a switch and a spawn are on the stack of the one
  // before, or the spawner, when `running` is the next already.
  const thread* running = w->current_thread();
  const thread* found = (running != nullptr ? running->home : &w->home)->stacks().whose_guard(address);
  if (found == nullptr) return;
  const thread& t = *found;
  say("heddle: stack overflow in user-level thread %llu (%s): its stack has %zu KiB; give it more by thread_options::stack_size, "
      "runtime_options::stack_size or HEDDLE_STACK_SIZE\n", id_of(t), name_of(t), t.stack_bytes >> 10);
}

void dump_threads(runtime& home) noexcept {
  say("heddle: %u workers, policy %s, %zu control blocks in use or in caches\n", home.workers(), home.options().policy.c_str(), home.stacks().live());
  for (unsigned rank = 0; rank < home.workers(); ++rank) {
    const thread* t = running_on(home.at(rank));
    if (t == nullptr) say("  worker %u: %s\n", rank, home.idle().is_asleep(rank) ? "asleep" : "searches");
    else say("  worker %u: runs thread %llu (%s)\n", rank, id_of(*t), name_of(*t));
  }
  home.stacks().for_each_block([](const thread& t) {
    const char* reason = reason_of(t);
    if (reason == nullptr) return;
    say("  thread %llu (%s) waits for: %s\n", id_of(t), name_of(t), reason);
    print_stack(t);
  });
}

}  // namespace heddle::worker

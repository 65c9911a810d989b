#include "worker/diagnosis/faults.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>

#include <heddle/detail/inheriting_lock.hpp>
#include <heddle/detail/wait.hpp>

#include "arch/return_address.hpp"
#include "base/readable.hpp"
#include "fiber/stack_pool.hpp"
#include "worker/caller.hpp"
#include "worker/diagnosis/foreign_waits.hpp"
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
  platform::write_error(text,
                        length < static_cast<int>(sizeof text) ? static_cast<std::size_t>(length) : sizeof text - 1);
}

// These functions look at threads while others run them: a dump is of a program that hangs or has failed, and what it
// says of the rest is a hint.
HEDDLE_NO_TSAN const char* name_of(const thread& t) noexcept {
  return t.shown.name != nullptr ? t.shown.name : "unnamed";
}

HEDDLE_NO_TSAN unsigned long long id_of(const thread& t) noexcept { return static_cast<unsigned long long>(t.id); }

HEDDLE_NO_TSAN const thread* running_on(const worker& w) noexcept { return static_cast<const thread*>(w.running); }

HEDDLE_NO_TSAN const char* reason_of(const thread& t) noexcept { return t.shown.waits_for; }

// The file without its folders: everything else that addr2line wants is printed beside it.
const char* short_name(const char* module) noexcept {
  const char* const slash = std::strrchr(module, '/');
  return slash == nullptr ? module : slash + 1;
}

// Prints "name+0x12 (module+0x345)", without the parts that are not known.
void print_code(const char* before, const platform::symbol& s, const char* address) noexcept {
  if (s.name == nullptr) return say("%s%s+0x%zx\n", before, short_name(s.module), static_cast<std::size_t>(s.offset));
  const auto into = static_cast<std::size_t>(address - static_cast<const char*>(s.start));
  const char* const module = s.module == nullptr ? "" : short_name(s.module);
  try {
    say("%s%s+0x%zx (%s+0x%zx)\n", before, base::readable(s.name).c_str(), into, module,
        static_cast<std::size_t>(s.offset));
  } catch (const std::exception&) {
    say("%s%s+0x%zx (%s+0x%zx)\n", before, s.name, into, module, static_cast<std::size_t>(s.offset));
  }
}

// `certain` means that the address is a return address; otherwise it is a word that may be one.
bool print_frame(const char* address, bool certain) noexcept {
  const platform::symbol s =
      reinterpret_cast<std::uintptr_t>(address) < 4096 ? platform::symbol{} : platform::symbol_at(address);
  if (s.name == nullptr && s.module == nullptr) return false;
  if (!certain) {
    arch::bytes_before bytes;  // copied, not read in place: it may be the first page of anything
    if (s.start == address || !platform::read_memory(address - bytes.size(), bytes.data(), bytes.size()) ||
        !arch::is_call(bytes))
      return false;
  }
  print_code("      ", s, address);
  return true;
}

// The wait of a thread, in its own words.
struct seen_wait {
  const char* what{nullptr};
  const void* object{nullptr};
  const void* place{nullptr};
};

// A parked thread's waiter lies somewhere on its stack. It is known by two words that stand beside each other nowhere
// else. It is found by looking, so that suspending has nothing to write down.
HEDDLE_SCANS_STACKS seen_wait wait_of(const thread& t) noexcept {
  using detail::waiter;
  static_assert(offsetof(waiter, what) == offsetof(waiter, thread) + sizeof(void*));
  seen_wait found{t.shown.waits_for};
  const thread* const stack = t.stack;
  if (found.what == nullptr || stack == nullptr || t.stack_pointer < stack->stack_memory.low ||
      t.stack_pointer >= stack)
    return found;
  const auto* top = reinterpret_cast<const std::uintptr_t*>(stack);
  constexpr std::size_t object = (offsetof(waiter, object) - offsetof(waiter, thread)) / sizeof(void*);
  constexpr std::size_t place = (offsetof(waiter, place) - offsetof(waiter, thread)) / sizeof(void*);
  const auto* word = static_cast<const std::uintptr_t*>(t.stack_pointer);
  if (reinterpret_cast<std::uintptr_t>(word) % sizeof(void*) != 0) return found;
  for (; word + std::max(object, place) < top; ++word) {
    if (word[0] != reinterpret_cast<std::uintptr_t>(&t) || word[1] != reinterpret_cast<std::uintptr_t>(found.what))
      continue;
    found.object = reinterpret_cast<const void*>(word[object]);
    found.place = reinterpret_cast<const void*>(word[place]);
    break;
  }
  return found;
}

// Returns an address on the stack of the holder of the object that is waited for. Returns 0 if that is not known, or
// the memory is gone.
std::uintptr_t holder_of(const seen_wait& w) noexcept {
  if (w.object == nullptr || std::strcmp(w.what, "mutex") != 0) return 0;
  const auto* lock = static_cast<const detail::inheriting_lock*>(w.object);
  std::uintptr_t word = 0, holder = 0;
  const bool known = platform::read_memory(&lock->word, &word, sizeof word) &&
                     platform::read_memory(&lock->holder_stack, &holder, sizeof holder);
  return known && detail::lock_word::state(word).is_locked() ? holder : 0;
}

void print_wait(runtime& home, const seen_wait& w) noexcept {
  say(" waits for: %s", w.what);
  if (const std::uintptr_t holder = holder_of(w); holder != 0) {
    const void* const stack = reinterpret_cast<const void*>(holder);
    if (const thread* by = home.stacks().whose_stack(stack); by != nullptr) {
      say(" %p, held by thread %llu (%s)", w.object, id_of(*by), name_of(*by));
    } else if (const platform::named_kernel_thread outside = platform::whose_stack(stack); outside.id != 0) {
      say(" %p, held by kernel thread %d (%s), which is no worker's", w.object, outside.id, outside.name);
    } else {
      say(" %p, held by a kernel thread outside of the workers, whose stack is at %p", w.object, stack);
    }
  }
  say("\n");
  if (w.place == nullptr) return;
  const auto* at = static_cast<const char*>(w.place);
  if (const platform::symbol s = platform::symbol_at(at); s.module != nullptr) print_code("      asked for in ", s, at);
}

// Returns the user-level thread that holds the mutex that a parked thread waits for, or null.
const thread* holder_of(const thread& t) noexcept {
  const std::uintptr_t holder = holder_of(wait_of(t));
  return holder == 0 ? nullptr : t.stack_memory.pool->whose_stack(reinterpret_cast<const void*>(holder));
}

// Prints the words of a stack that may be return addresses, `most` at most.
HEDDLE_SCANS_STACKS void print_words(const std::uintptr_t* word, const std::uintptr_t* top, std::size_t most) noexcept {
  for (std::size_t shown = 0; word < top && shown < most; ++word) {
    if (print_frame(reinterpret_cast<const char*>(*word), false)) ++shown;
  }
}

// Prints the stack of a parked thread. It is unwound where no thread can resume it meanwhile (in the simulator).
// Elsewhere code addresses are found by a scan: stale ones may show, none is missed. A debugger unwinds exactly
// (docs/guide/debugging.md).
HEDDLE_SCANS_STACKS void print_stack(const thread& t) noexcept {
  std::array<const void*, frames_shown> frames;
  if (const std::size_t found = platform::unwind(t.stack_pointer, frames.data(), frames.size()); found != 0) {
    for (std::size_t i = 0; i < found; ++i) print_frame(static_cast<const char*>(frames[i]), true);
    return;
  }
  const thread* const stack = t.stack;
  // The thread's stack went back to the system meanwhile.
  if (stack == nullptr || t.stack_pointer < stack->stack_memory.low || t.stack_pointer >= stack) return;
  const auto* frame = static_cast<const arch::switch_frame*>(t.stack_pointer);
  const auto* word = reinterpret_cast<const std::uintptr_t*>(frame + 1);
  const auto* top = reinterpret_cast<const std::uintptr_t*>(stack);
  const bool first = print_frame(reinterpret_cast<const char*>(frame->return_address), true);
  print_words(word, top, frames_shown - (first ? 1 : 0));
}

}  // namespace

void explain_fault(const void* address) noexcept {
  runtime* const home = caller::now().home();
  if (home == nullptr) return;
  // Not the guard of the running thread alone: a switch and a spawn are still on the stack of the thread before, or of
  // the spawner, when `running` is the next thread already.
  const thread* found = home->stacks().whose_guard(address);
  if (found == nullptr) return;
  const thread& t = *found;
  say("heddle: stack overflow in user-level thread %llu (%s): its stack has %zu KiB; give it more by "
      "thread_options::stack_size, "
      "runtime_options::stack_size or HEDDLE_STACK_SIZE\n",
      id_of(t), name_of(t), t.stack->stack_memory.bytes >> 10);
}

HEDDLE_SCANS_STACKS void tell_of_system_calls(runtime& home, int (*of)(const worker&) noexcept) noexcept {
  say("heddle: all %u workers have been in system calls for %llu us while work waits, so further kernel threads run "
      "that work; heddle::blocking or heddle's own waits need no such help (HEDDLE_BLOCKED_BOUND, "
      "docs/guide/pitfalls.md)\n",
      home.workers(), static_cast<unsigned long long>(home.options().blocked_bound / 1000));
  for (unsigned rank = 0; rank < home.workers(); ++rank) {
    const thread* const t = running_on(home.at(rank));
    const auto* const at = static_cast<const std::uintptr_t*>(platform::stack_pointer_of(of(home.at(rank))));
    const thread* const on = t == nullptr ? nullptr : home.stacks().whose_stack(at);
    if (on == nullptr || reinterpret_cast<std::uintptr_t>(at) % sizeof(void*) != 0) continue;
    say("  worker %u runs thread %llu (%s), which is in\n", rank, id_of(*t), name_of(*t));
    return print_words(at, reinterpret_cast<const std::uintptr_t*>(on->stack), frames_shown);
  }
}

void dump_threads(runtime& home) noexcept {
  say("heddle: %u workers, policy %s, %zu control blocks in use or in caches\n", home.workers(),
      home.options().policy.c_str(), home.stacks().live());
  for (unsigned rank = 0; rank < home.workers(); ++rank) {
    const thread* t = running_on(home.at(rank));
    if (t == nullptr) say("  worker %u: %s\n", rank, home.sleepers().idle().is_asleep(rank) ? "asleep" : "searches");
    else say("  worker %u: runs thread %llu (%s)\n", rank, id_of(*t), name_of(*t));
  }
  home.substitutes().for_each([](const worker& w) {
    if (const thread* t = running_on(w); t != nullptr)
      say("  a substitute: runs thread %llu (%s)\n", id_of(*t), name_of(*t));
  });
  home.stacks().for_each_block([&home](const thread& t) {
    const seen_wait w = wait_of(t);
    if (w.what == nullptr) return;
    say("  thread %llu (%s)", id_of(t), name_of(t));
    print_wait(home, w);
    print_stack(t);
  });
  foreign_wait::for_each([&home](const void* stack, const char* what, const void* object, const void* place) {
    const platform::named_kernel_thread who = platform::whose_stack(stack);
    if (who.id != 0) say("  kernel thread %d (%s)", who.id, who.name);
    else say("  kernel thread with a stack at %p", stack);
    print_wait(home, {what, object, place});
  });
  static_cast<void>(in_deadlock(home, true));
}

bool in_deadlock(runtime& home, bool tell) noexcept {
  constexpr int longest = 64;
  bool found = false;
  home.stacks().for_each_block([&](const thread& first) {
    if (reason_of(first) == nullptr || (found && !tell)) return;
    // Each circle once: from its thread of the lowest number.
    int length = 0;
    const thread* t = &first;
    do {
      t = holder_of(*t);
    } while (t != nullptr && t != &first && id_of(*t) > id_of(first) && ++length < longest);
    if (t != &first) return;
    found = true;
    if (!tell) return;
    say("  these wait for each other for ever: thread %llu (%s)", id_of(first), name_of(first));
    for (const thread* next = holder_of(first); next != nullptr && next != &first && length-- >= 0;
         next = holder_of(*next)) {
      say(", held up by thread %llu (%s)", id_of(*next), name_of(*next));
    }
    say(", held up by the first\n");
  });
  return found;
}

bool is_running(const worker& w) noexcept { return running_on(w) != nullptr; }

bool somebody_waits_for_a_descriptor(runtime& home) noexcept {
  bool found = false;
  home.stacks().for_each_block([&found](const thread& t) {
    const char* const reason = reason_of(t);
    found |= reason != nullptr && std::strstr(reason, " descriptor") != nullptr;
  });
  return found;
}

}  // namespace heddle::worker

// Reports of runs that do not go on, because nothing can happen any more, or because nothing happens.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/readable.hpp"
#include "platform/platform.hpp"
#include "platform/sim/engine.hpp"

namespace heddle::sim {

namespace {

[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept {
  char text[512];
  va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  platform::write_error(text, std::min(static_cast<std::size_t>(std::max(length, 0)), sizeof text - 1));
}

// Prints the caller's stack without so many innermost frames.
void say_stack(std::size_t skip) noexcept {
  std::array<const void*, 48> frames;
  const std::size_t found = platform::unwind(nullptr, frames.data(), frames.size());
  for (std::size_t i = skip; i < found; ++i) {
    // A return address may lie behind a function that never returns.
    const platform::symbol s = platform::symbol_at(static_cast<const char*>(frames[i]) - 1);
    if (s.name == nullptr) continue;
    try {
      say("      %s+0x%zx\n", base::readable(s.name).c_str(),
          static_cast<std::size_t>(static_cast<const char*>(frames[i]) - static_cast<const char*>(s.start)));
    } catch (const std::exception&) {
      say("      %s\n", s.name);
    }
  }
}

double seconds(picoseconds t) noexcept { return static_cast<double>(t) / 1e12; }

}  // namespace

void engine::fail(const char* what, int status) noexcept {
  for (const runtime_note& note : runtimes_) {
    if (note.end == never) note.report(note.runtime);
  }
  if (settings_.failed != nullptr) settings_.failed(settings_.context, what);
  std::fflush(stdout);
  std::_Exit(status);
}

void engine::deadlock() noexcept {
  say("heddle: sim: deadlock at %.9f s of virtual time: all %zu kernel threads sleep, and none has a deadline\n",
      seconds(latest() - origin),
      static_cast<std::size_t>(std::count_if(strands_.begin(), strands_.end(),
                                             [](const auto& s) { return s->state != strand_state::ended; })));
  for (const auto& s : strands_) {
    if (s->state == strand_state::asleep)
      say("  kernel thread %u (%s) sleeps on the word at %p\n", s->id, s->name, s->sleeps.on);
  }
  fail("deadlock", deadlock_status);
}

void engine::stall(double cpu_seconds) noexcept {
  // A limit, because the interrupted code may hold what the report needs.
  constexpr unsigned for_the_report = 20;
  ::alarm(for_the_report);
  const bool silent = progress_.is_silent(counts_.events);
  say("heddle: sim: stall at %.9f s of virtual time: kernel thread %u (%s) %s for %g s of CPU time\n",
      seconds(self_->time - origin), self_->id, self_->name,
      silent ? "has passed no scheduling point" : "waits, and so do all others,", cpu_seconds);
  constexpr std::size_t of_the_watch = 3;  // say_stack, this function, the signal handler
  say_stack(of_the_watch);
  if (silent) {
    say("  nobody else runs meanwhile: a loop that waits for another task must call heddle::this_thread::pause() or "
        "yield() in each turn, or wait on a "
        "semaphore, preemptive threads too, which get their ticks there; for a computation that long there is `heddle "
        "sim --stall-limit`\n");
  } else {
    say("  does the program need more workers than it has here?\n");
  }
  say_others();
  fail("stall", stall_status);
}

void engine::explored_stall() noexcept {
  chooser_ = nullptr;  // the report is not explored
  while (!events_.empty()) events_.pop();
  say("heddle: sim: stall: kernel thread %u (%s) waits by looking at memory, and so do all others\n", self_->id,
      self_->name);
  constexpr std::size_t skipped = 2;  // say_stack, this function
  say_stack(skipped);
  say_others();
  fail("stall", stall_status);
}

void engine::broken_promise(const runtime_note& note) noexcept {
  while (!events_.empty()) events_.pop();
  say("heddle: sim: a worker of the runtime with policy %s sleeps beside work that it may take, and nobody is on the "
      "way "
      "to wake it\n",
      note.policy.c_str());
  say_others();
  fail("greed", greed_status);
}

void engine::say_others() noexcept {
  static constexpr const char* states[] = {"ready", "waits for a processing unit", "asleep", "ended"};
  std::size_t shown = 0;
  for (const auto& s : strands_) {
    if (s.get() == self_ || s->state == strand_state::ended) continue;
    if (shown++ == 16) {
      say("  ...\n");
      break;
    }
    say("  kernel thread %u (%s): %s\n", s->id, s->name, states[static_cast<unsigned>(s->state)]);
  }
}

}  // namespace heddle::sim

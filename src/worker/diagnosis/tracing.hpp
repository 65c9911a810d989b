// The runtimes of the process that record a trace, and who writes their files: each
// runtime's destructor, the end of the process, flush(), and signals that end it.
// Protocol and argument: ../trace/ended.md.
#pragma once

#include <cstdint>

#include <heddle/detail/wait.hpp>

#include "trace/trace.hpp"

namespace heddle::worker {

class runtime;
class worker;

namespace tracing {

// A runtime that records: while this lives it is written whenever somebody writes.
class registration {
 public:
  // Throws std::bad_alloc.
  explicit registration(const runtime& home);
  // Nothing is written: for a runtime that did not come to be.
  ~registration();
  registration(const registration&) = delete;
  registration& operator=(const registration&) = delete;

  // The runtime ends: its file is written for the last time. Whoever else
  // writes is waited for. What cannot be written is told on standard error.
  void finish() noexcept;

 private:
  void leave(bool write) noexcept;
  const runtime* home_;
};

// Writes the files of all runtimes that record; how many. Throws trace::trace_error, having written the others. Any
// thread outside of a section; not a signal handler.
unsigned save_all();

// What kernel threads outside of the workers tell of themselves (trace::region in main). Made by the first call, never
// destroyed: whoever holds it may outlive all runtimes. Throws std::bad_alloc.
trace::recorder& outside();

// The recorder's number of a text that stays where it is, a literal's:
// kept for the calling kernel thread, which it does not leave meanwhile.
std::uint32_t number_of(trace::recorder& of, const char* text) noexcept;
// What the running thread of a traced worker is about to wait for.
void note_wait(worker& on, const detail::waiter& w) noexcept;

// Held over fork(), so that the child does not find it locked.
void lock_for_fork() noexcept;
void unlock_after_fork() noexcept;

// Nanoseconds that a fork and its join take on the slow paths to which trace_forks sends them, less what they take
// otherwise. `heddle dag` subtracts them. Measured on a queue of its own, in about 20 us. 0 on a platform with virtual
// time.
std::uint64_t cost_of_traced_fork() noexcept;

}  // namespace tracing
}  // namespace heddle::worker

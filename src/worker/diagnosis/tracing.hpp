// The runtimes of the process that record a trace, and the writing of their files: by each runtime's destructor, the
// end of the process, flush(), and signals that end it. Protocol and argument: ../trace/ended.md.
#pragma once

#include <cstdint>

#include <heddle/detail/wait.hpp>

#include "trace/trace.hpp"

namespace heddle::worker {

class runtime;
class worker;

namespace tracing {

// A runtime that records. While this object lives, every writing of the files writes this runtime's, too.
class registration {
 public:
  // Throws std::bad_alloc.
  explicit registration(const runtime& home);
  // Writes nothing: for a runtime that did not come to be.
  ~registration();
  registration(const registration&) = delete;
  registration& operator=(const registration&) = delete;

  // The runtime ends: its file is written for the last time. Waits for other writers. Failures are told on standard
  // error.
  void finish() noexcept;

 private:
  void leave(bool write) noexcept;
  const runtime* home_;
};

// Writes the files of all runtimes that record; returns how many. Throws trace::trace_error, after it has written the
// others. Callable from any thread outside of a section, not from a signal handler.
unsigned save_all();

// The recorder of kernel threads outside of the workers (trace::region in main). Made by the first call and never
// destroyed, because a thread that holds it may outlive all runtimes. Throws std::bad_alloc.
trace::recorder& outside();

// The recorder's number of a text that stays where it is, such as a literal. It is kept for the calling kernel thread,
// on which the caller must stay meanwhile.
std::uint32_t number_of(trace::recorder& of, const char* text) noexcept;
// Notes what the running thread of a traced worker is about to wait for.
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

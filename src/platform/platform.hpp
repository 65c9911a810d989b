// The seam below which an operating system or a virtual clock is known. Implemented by linux/ and by sim/; both are
// linked under the same names, and what stands above is compiled for sim/ with HEDDLE_SIM. Nothing above this line
// includes a system header for threads, time or memory maps. Clocks, ticks and other signals have headers of their own,
// which this one includes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <heddle/export.hpp>

#include "platform/clock.hpp"
#include "platform/signals.hpp"
#include "platform/ticks.hpp"
#include "platform/usage.hpp"

namespace heddle::platform {

// True where kernel threads are simulated and time is virtual. For the few places where that changes more than the
// meaning of a call.
#if defined(HEDDLE_SIM)
inline constexpr bool simulated = true;
#else
inline constexpr bool simulated = false;
#endif

// What the scheduler does, told to a platform that makes it take time; does nothing elsewhere. Waking, sleeping and
// fences are charged by the functions below. A scheduling point: other kernel threads may run during the call.
// `distance` is that of a steal. look: the scheduler has looked at a worker that has nothing, without an attempt to
// steal. migration: a thread goes on on another worker; it is counted only.
enum class operation : std::uint8_t { fork, join, spawn, thread_switch, migration, steal, failed_steal, look };
#if defined(HEDDLE_SIM)
void charge(operation what, unsigned distance = 0) noexcept;
// For the account of the run. report(runtime) is called when all kernel threads sleep without a deadline, before the
// process ends.
void runtime_started(const void* runtime, const char* policy, unsigned workers, void (*report)(const void*));
void runtime_ended(const void* runtime) noexcept;
#else
inline void charge(operation, unsigned = 0) noexcept {}
inline void runtime_started(const void*, const char*, unsigned, void (*)(const void*)) {}
inline void runtime_ended(const void*) noexcept {}
#endif

// Lets another kernel thread run on this processor.
void yield_processor() noexcept;

// Sleeps while `word` holds `expected`, at most until `deadline` (now()'s clock; 0 = no limit). May return early.
void wait_on(std::atomic<std::uint32_t>& word, std::uint32_t expected, nanoseconds deadline = 0) noexcept;
// Wakes one (or all) kernel threads asleep on `word`. The word may be gone already: no memory is read.
void wake_one(std::atomic<std::uint32_t>& word) noexcept;
void wake_all(std::atomic<std::uint32_t>& word) noexcept;
// From now on the calling kernel thread's deadlines are kept as exactly as the system can; as a rule it may be late, so
// as to wake several at once.
void keep_deadlines_exactly() noexcept;

// A full fence executed by every running kernel thread of the process: the expensive half of an asymmetric fence.
// Source: membarrier(2), MEMBARRIER_CMD_PRIVATE_EXPEDITED.
void heavy_fence() noexcept;

// A kernel thread. start: 0, or the error of pthread_create (nothing started). It begins on `processing_unit` where
// that is possible: a kernel thread that bound itself would first wait, perhaps for milliseconds, for the processor
// that it was put on. What it begins with lies in `out`, which must stay where it is until join. It is not in a block
// that the new kernel thread frees, since it might wait for malloc's lock there.
struct kernel_thread {
  std::uintptr_t handle{0};
  void (*entry)(void*){nullptr};  // these: written by start, read by the new kernel thread
  void* argument{nullptr};
  char name[16]{};
};
int start(kernel_thread& out, void (*entry)(void*), void* argument, const char* name,
          int processing_unit = -1) noexcept;
// The same of one to which the system delivers no signal that another kernel thread of the process could take.
int start_without_signals(kernel_thread& out, void (*entry)(void*), void* argument, const char* name) noexcept;
// What such an error means, with the limits that may have been reached and their values. Allocates nothing: there may
// be no memory.
struct explanation {
  char text[320];
};
explanation why_not_started(int error) noexcept;
void join(kernel_thread& thread) noexcept;

// --- readiness of file descriptors ----------------------------------------------------------------------------------
// Not on the simulated platform, except for look().
struct readiness_queue {
  int descriptor{-1};
};
struct ready_descriptor {
  int descriptor;
  std::uint32_t asked;      // as given to arm
  bool readable, writable;  // or at its end, or in error: a call would not block
};
// 0, or an errno value.
int open_queue(readiness_queue& out) noexcept;
// Tells of the descriptor once, as soon as one of the wanted directions is ready; replaces what was asked for before.
// What is told may be of a descriptor that was closed meanwhile, whose number is in use again: `asked` says which
// request it is an answer to. Any kernel thread. 0, or an errno value: EBADF, EPERM (always ready), ENOMEM, ENOSPC.
int arm(const readiness_queue& queue, int descriptor, std::uint32_t asked, bool read, bool write) noexcept;
// Sleeps until there is something to be told; how many were written to `out`.
unsigned wait_for_ready(const readiness_queue& queue, ready_descriptor* out, unsigned most) noexcept;
// Whether a call would not block: 1 or 0; a negative errno value.
int look(int descriptor, bool write) noexcept;

// --- thread-local storage apart from kernel threads ------------------------------------------------------------------
struct own_tls {
  void* thread_pointer{nullptr};  // arch::set_thread_pointer
  own_tls* next{nullptr};
  const void* images{nullptr};  // the platform's: what the variables were made new from last
};
// Null: blocks can be had; else why not, in words. Allocates nothing, but may wait for the loader's lock.
const char* why_no_own_tls() noexcept;
// Makes blocks, up to `count` and fewer if that is too many at once, in a list by `next`; their variables are as a new
// thread finds them. Blocks are not given back to the system, since the C library's caches live in them. Only after
// why_no_own_tls() gave null. Calls malloc, and needs kernel threads for the while. Null: no memory, or no kernel
// thread can be had.
own_tls* make_own_tls(unsigned count) noexcept;
// Called on the block, before a thread's own code and after it. begin prepares the C library. end does what the end of
// a kernel thread would do (destructors of the thread's variables and keys) and makes the variables new. False: there
// was no memory for that, and the block must not be used again.
void begin_own_tls(own_tls& block) noexcept;
[[nodiscard]] bool end_own_tls(own_tls& block) noexcept;

// The kernel writes to the control block of the calling kernel thread, at `thread_pointer`, at every interruption
// (rseq). From now on it does not: in the child of a fork() that a thread on a block has made the C library uses the
// carrier's memory again, and while another thread has this storage the processor's number there would be wrong. What
// it returns (0: it did not before) gives enter_rseq back, after which the kernel does as before.
unsigned leave_rseq(void* thread_pointer) noexcept;
void enter_rseq(void* thread_pointer, unsigned bytes) noexcept;

// The unit that the calling kernel thread is on at the moment; negative: not told.
int current_unit() noexcept;
// Whether a kernel thread that was not started here may run a worker for the time of a call. False in simulated time,
// where only the workers' kernel threads have units of their own, except while interleavings are explored.
bool foreign_threads_borrow() noexcept;
// Binds the calling kernel thread to a processing unit (operating system number); negative: to all units the process
// had when it started. False when the system refuses.
bool bind_self(int processing_unit) noexcept;
// The same for another kernel thread of the process, by its kernel_thread_id(); false also where only it can do so
// itself.
bool bind(int kernel_thread, int processing_unit) noexcept;
// The units the calling kernel thread may run on, ascending; none when the system does not tell. Throws std::bad_alloc.
std::vector<int> allowed_units();

// Memory for stacks and queues: reserved, zero, committed on first touch, never merged into huge pages.
// nullptr when the system refuses. reserve and release are exported for libheddle_policies.so.
HEDDLE_API void* reserve(std::size_t bytes) noexcept;
// The same for what will be used throughout: a multiple of huge pages is made of those where the system has them.
void* reserve_dense(std::size_t bytes) noexcept;
HEDDLE_API void release(void* memory, std::size_t bytes) noexcept;
// Gives the pages back to the system; they read as zero afterwards.
void decommit(void* memory, std::size_t bytes) noexcept;
// Makes a range fault on access. Cheap forms first: MADV_GUARD_INSTALL (Linux 6.13), else mprotect while the number of
// mappings lasts. False: no guard could be had, the range stays usable.
bool install_guard(void* memory, std::size_t bytes) noexcept;
std::size_t page_size() noexcept;

// How many fork() calls lie between the first process and this one: state of another count belongs to a parent.
std::uint64_t fork_count() noexcept;
// fork() calls `before` first, on the forking kernel thread, and then `after` in the parent and `in_child` in the
// child: what `before` locked is not held by a kernel thread that the child lacks. Once a process.
void around_fork(void (*before)(), void (*after)(), void (*in_child)()) noexcept;
// From now on fork() calls that in the child, which has one kernel thread then. One function a process.
void when_forked(void (*in_child)()) noexcept;

// Writes to standard error. Async-signal-safe.
void write_error(const char* text, std::size_t length) noexcept;

// The function at a code address: its (linker's) name and start, null when unknown, and its module. Not
// async-signal-safe.
struct symbol {
  const char* name{nullptr};
  const void* start{nullptr};
  const char* module{nullptr};  // the file that the code is from; null when the address is in none
  std::uintptr_t offset{0};     // of the address, as tools that read the file count
};
symbol symbol_at(const void* address) noexcept;
// The kernel thread of this process on whose stack the address is, if it waits in the kernel; its id is 0 if that is
// not known. Not async-signal-safe.
struct named_kernel_thread {
  int id{0};
  char name[20]{};
};
// Copies memory that may not be there; false: it is not.
#if defined(HEDDLE_SIM)
inline named_kernel_thread whose_stack(const void*) noexcept { return {}; }
inline bool read_memory(const void* from, void* into, std::size_t bytes) noexcept {
  __builtin_memcpy(into, from, bytes);  // one kernel thread: nothing is unmapped meanwhile
  return true;
}
#else
named_kernel_thread whose_stack(const void* address) noexcept;
bool read_memory(const void* from, void* into, std::size_t bytes) noexcept;
#endif
// Return addresses of a suspended context (`stack_pointer` as heddle_switch saved it; null: of the caller), innermost
// first; returns how many, 0 where it cannot be told. Not async-signal-safe.
std::size_t unwind(void* stack_pointer, const void** into, std::size_t most) noexcept;

// Name of the program, for traces.
const char* program_name() noexcept;

}  // namespace heddle::platform

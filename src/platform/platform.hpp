// The platform seam: only code below it knows an operating system or a virtual clock. linux/ and sim/ implement it
// under the same names, and the floors above are compiled for sim/ with HEDDLE_SIM. No floor above includes a system
// header for threads, time or memory maps. Clocks, ticks and other signals have headers of their own, which this header
// includes.
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

// True on the simulated platform, where kernel threads are simulated and time is virtual. It serves the few places
// where the simulation changes more than the meaning of a call.
#if defined(HEDDLE_SIM)
inline constexpr bool simulated = true;
#else
inline constexpr bool simulated = false;
#endif

// The operations of the scheduler that take time on the simulated platform. `charge` tells the platform of one; on a
// real platform it does nothing. Waking, sleeping and fences are charged by the functions below. A call of `charge` is
// a scheduling point: other kernel threads may run during it. `distance` is the distance of a steal. `look` means that
// the scheduler has looked at a worker that has no work, without an attempt to steal. `migration` means that a thread
// goes on on another worker; it is only counted.
enum class operation : std::uint8_t { fork, join, spawn, thread_switch, migration, steal, failed_steal, look };
#if defined(HEDDLE_SIM)
void charge(operation what, unsigned distance = 0) noexcept;
// Tell the account of the run. report(runtime) is called before the process ends because all kernel threads sleep
// without a deadline.
void runtime_started(const void* runtime, const char* policy, unsigned workers, void (*report)(const void*));
void runtime_ended(const void* runtime) noexcept;
#else
inline void charge(operation, unsigned = 0) noexcept {}
inline void runtime_started(const void*, const char*, unsigned, void (*)(const void*)) {}
inline void runtime_ended(const void*) noexcept {}
#endif

// Lets another kernel thread run on this processor.
void yield_processor() noexcept;

// Sleeps while `word` holds `expected`, at most until `deadline` on now()'s clock; a deadline of 0 means no limit. May
// return early.
void wait_on(std::atomic<std::uint32_t>& word, std::uint32_t expected, nanoseconds deadline = 0) noexcept;
// Wake one kernel thread, or all, that sleep on `word`. The word may already be destroyed, because the calls do not
// read it.
void wake_one(std::atomic<std::uint32_t>& word) noexcept;
void wake_all(std::atomic<std::uint32_t>& word) noexcept;
// Makes the system keep the calling kernel thread's deadlines as exactly as it can. Without this call the system may be
// late, so that it can wake several kernel threads at once.
void keep_deadlines_exactly() noexcept;

// A full fence executed by every running kernel thread of the process: the expensive half of an asymmetric fence.
// Source: membarrier(2), MEMBARRIER_CMD_PRIVATE_EXPEDITED.
void heavy_fence() noexcept;

// A kernel thread. `start` returns 0, or the error of pthread_create if nothing was started. The kernel thread begins
// on `processing_unit` where that is possible, because a kernel thread that binds itself first waits, perhaps for
// milliseconds, for the processor on which the system put it. The new kernel thread reads its entry, argument and name
// from `out`, which must stay where it is until join. They are not in a block that the new kernel thread frees, because
// it might wait for malloc's lock there.
struct kernel_thread {
  std::uintptr_t handle{0};
  void (*entry)(void*){nullptr};  // this and what follows: written by start, read by the new kernel thread
  void* argument{nullptr};
  char name[16]{};
};
int start(kernel_thread& out, void (*entry)(void*), void* argument, const char* name,
          int processing_unit = -1) noexcept;
// Starts a kernel thread to which the system delivers no signal that another kernel thread of the process could take.
int start_without_signals(kernel_thread& out, void (*entry)(void*), void* argument, const char* name) noexcept;
// The meaning of such an error in words, with the limits that may have been reached and their values. Its making
// allocates nothing, because there may be no memory.
struct explanation {
  char text[320];
};
explanation why_not_started(int error) noexcept;
void join(kernel_thread& thread) noexcept;
// The same for one that has come to its end, its thread-local destructors included. Otherwise returns false at once.
[[nodiscard]] bool try_join(kernel_thread& thread) noexcept;

// --- readiness of file descriptors ----------------------------------------------------------------------------------
// The simulated platform has only look().
struct readiness_queue {
  int descriptor{-1};
};
struct ready_descriptor {
  int descriptor;
  std::uint32_t asked;      // as given to arm
  bool readable, writable;  // true also at the end of the data and in error, because a call would not block
};
// Returns 0 or an errno value.
int open_queue(readiness_queue& out) noexcept;
// Makes the queue report the descriptor once, as soon as one of the wanted directions is ready. A new request for a
// descriptor replaces the one before. A report may be of a descriptor that was closed in the meantime and whose number
// is in use again; `asked` says which request it answers. May be called by any kernel thread. Returns 0 or an errno
// value: EBADF, EPERM (the descriptor is always ready), ENOMEM, ENOSPC.
int arm(const readiness_queue& queue, int descriptor, std::uint32_t asked, bool read, bool write) noexcept;
// Sleeps until the queue has reports. Returns how many were written to `out`.
unsigned wait_for_ready(const readiness_queue& queue, ready_descriptor* out, unsigned most) noexcept;
// Returns 1 if a call on the descriptor would not block, 0 if it would, or a negative errno value.
int look(int descriptor, bool write) noexcept;

// --- thread-local storage apart from kernel threads ------------------------------------------------------------------
struct own_tls {
  void* thread_pointer{nullptr};  // arch::set_thread_pointer
  own_tls* next{nullptr};
  const void* images{nullptr};  // for the platform: the images from which the variables were last made new
};
// Returns null if blocks can be had, and otherwise the reason in words. Allocates nothing, but may wait for the
// loader's lock.
const char* why_no_own_tls() noexcept;
// Makes at most `count` blocks, linked by `next`; fewer if `count` is too many at once. Their variables are as a new
// thread finds them. Blocks are never given back to the system, because the C library's caches live in them. Must be
// called only after why_no_own_tls() has returned null. Calls malloc, and needs kernel threads during the call. Returns
// null if there is no memory or no kernel thread can be had.
own_tls* make_own_tls(unsigned count) noexcept;
// These are called with the block in use, before a thread's own code and after it. begin_own_tls prepares the C
// library. end_own_tls does what the end of a kernel thread would do (it runs the destructors of the thread's variables
// and keys) and makes the variables new. It returns false if there was no memory for that; the block must not be used
// again then.
void begin_own_tls(own_tls& block) noexcept;
[[nodiscard]] bool end_own_tls(own_tls& block) noexcept;

// The kernel writes to the control block of the calling kernel thread, at `thread_pointer`, at every interruption
// (rseq). leave_rseq stops that, for two reasons. In the child of a fork() that was called by a thread on a block, the
// C library uses the carrier's memory again. And while another thread has this storage, the processor's number in it
// would be wrong. leave_rseq returns a number of bytes, or 0 if the kernel wrote nothing before. enter_rseq gets that
// number back and makes the kernel write again.
unsigned leave_rseq(void* thread_pointer) noexcept;
void enter_rseq(void* thread_pointer, unsigned bytes) noexcept;

// Returns the processing unit that the calling kernel thread is on at the moment, or a negative number if the system
// does not tell.
int current_unit() noexcept;
// Returns true if a kernel thread that was not started here may run a worker for the time of a call. Returns false in
// simulated time, where only the workers' kernel threads have units of their own, except while interleavings are
// explored.
bool foreign_threads_run_calls() noexcept;
// Binds the calling kernel thread to a processing unit, given by its operating system number. A negative number binds
// it to all units that the process had when it started. Returns false if the system refuses.
bool bind_self(int processing_unit) noexcept;
// Binds another kernel thread of the process, given by its kernel_thread_id(). Returns false also where a kernel thread
// can be bound only by itself.
bool bind(int kernel_thread, int processing_unit) noexcept;
// Returns the units on which the calling kernel thread may run, in ascending order; empty if the system does not tell.
// Throws std::bad_alloc.
std::vector<int> allowed_units();

// Returns memory for stacks and queues: it is reserved, reads as zero, is committed on first touch, and is never merged
// into huge pages. Returns null if the system refuses. reserve and release are exported for libheddle_policies.so.
HEDDLE_API void* reserve(std::size_t bytes) noexcept;
// Returns memory that will be used densely. If its size is a multiple of huge pages, it is made of huge pages where the
// system has them.
void* reserve_dense(std::size_t bytes) noexcept;
HEDDLE_API void release(void* memory, std::size_t bytes) noexcept;
// Gives the pages back to the system. They read as zero afterwards.
void decommit(void* memory, std::size_t bytes) noexcept;
// Returns how many bytes of a stack's memory are committed, from its high end downwards. Where a megabyte has none it
// looks no further.
std::size_t committed(void* memory, std::size_t bytes) noexcept;
// Makes a range fault on access, by MADV_GUARD_INSTALL (Linux 6.13) or else by mprotect while the number of mappings
// lasts. Returns false if no guard could be had; the range stays usable then.
bool install_guard(void* memory, std::size_t bytes) noexcept;
std::size_t page_size() noexcept;

// Returns how many fork() calls lie between the first process and this one. State that was noted at another count
// belongs to a parent process.
std::uint64_t fork_count() noexcept;
// Makes fork() call `before` on the forking kernel thread first, and then `after` in the parent and `in_child` in the
// child. So a lock that `before` takes is not held in the child by a kernel thread that does not exist there. May be
// called once in a process.
void around_fork(void (*before)(), void (*after)(), void (*in_child)()) noexcept;
// Makes fork() call `in_child` in the child, which has one kernel thread then. A process has one such function.
void when_forked(void (*in_child)()) noexcept;

// Writes to standard error. The call is async-signal-safe.
void write_error(const char* text, std::size_t length) noexcept;

// The function at a code address: the linker's name for it and its start, both null if unknown, and its module. The
// call is not async-signal-safe.
struct symbol {
  const char* name{nullptr};
  const void* start{nullptr};
  const char* module{nullptr};  // the file that the code is from; null if the address is in no file
  std::uintptr_t offset{0};     // the address's offset in the file, as tools that read the file count it
};
symbol symbol_at(const void* address) noexcept;
// The kernel thread of this process on whose stack an address is, if that kernel thread waits in the kernel. The id is
// 0 if no such kernel thread is known. The call is not async-signal-safe.
struct named_kernel_thread {
  int id{0};
  char name[20]{};
};
// A stack without its guard.
struct stack_range {
  void* low{nullptr};
  std::size_t bytes{0};
};
// read_memory copies memory that may not be mapped. It returns false if it is not.
#if defined(HEDDLE_SIM)
inline named_kernel_thread whose_stack(const void*) noexcept { return {}; }
inline const void* stack_pointer_of(int) noexcept { return nullptr; }
inline void know_stacks_by(bool (*)(const void*, stack_range&)) noexcept {}
inline bool read_memory(const void* from, void* into, std::size_t bytes) noexcept {
  __builtin_memcpy(into, from, bytes);  // one kernel thread: nothing is unmapped meanwhile
  return true;
}
#else
named_kernel_thread whose_stack(const void* address) noexcept;
// Of a kernel thread of the process that is in a system call; null if it is not, or the system does not tell.
const void* stack_pointer_of(int kernel_thread) noexcept;
// From this call on pthread_getattr_np tells a calling user-level thread of the stack that it is on. `around` tells
// which stack an address lies on, and returns false if that is a kernel thread's.
void know_stacks_by(bool (*around)(const void* address, stack_range& found)) noexcept;
bool read_memory(const void* from, void* into, std::size_t bytes) noexcept;
#endif
// Writes the return addresses of a suspended context, innermost first. `stack_pointer` is as heddle_switch saved it;
// null means the caller's own context. Returns how many addresses were written, 0 where they cannot be found. The call
// is not async-signal-safe.
std::size_t unwind(void* stack_pointer, const void** into, std::size_t most) noexcept;

// Returns the name of the program, for traces.
const char* program_name() noexcept;

}  // namespace heddle::platform

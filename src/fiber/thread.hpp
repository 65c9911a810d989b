// The control block of a user-level thread. It lies at the top of its own stack. The block of a light thread, which is
// made without a stack and gets one when it begins, lies in a slab of such blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <heddle/detail/wait.hpp>
#include <heddle/policy.hpp>
#include <heddle/thread_slot.hpp>

#include "fiber/completion.hpp"

namespace heddle::detail {
struct group_state;
class job;
struct inheriting_lock;
}  // namespace heddle::detail

namespace heddle::worker {
struct account;
struct fork_time;
class ready_queue;
class runtime;
class worker;
struct seat;
}  // namespace heddle::worker

namespace heddle::fiber {

class stack_pool;
struct preemptible;

inline constexpr std::uint16_t no_worker = 0xffff;
inline constexpr std::uint8_t no_size_class = 0xff;  // the size class of a light thread

// Where a thread belongs: to the pool that it goes back to under thread packing (unknown at first), or to the worker
// that it is pinned to. Its maker pins it, or it is pinned as long as it is in a gang (worker/gangs/gangs.md), which
// may give it another worker while it does not run. The thread's owner writes it, or the worker that puts its gang on.
// Whether it is pinned is settled before any other thread knows of it, or by the thread itself. A thread that passes on
// a level may ask for it at any time (precedence.cpp), so it is an atomic, without an order.
class belonging {
 public:
  static constexpr unsigned limit = 0x3fff;  // of ranks

  bool is_known() const noexcept { return get() != no_worker; }
  bool is_pinned() const noexcept { return get() >= pinned_bit && is_known(); }
  // Returns true if the thread is pinned because it is in a gang.
  bool is_seated() const noexcept { return get() >= (pinned_bit | gang_bit) && is_known(); }
  // Returns the rank of the pool or the worker, which must be known.
  unsigned rank() const noexcept { return get() & limit; }

  void clear() noexcept { put(no_worker); }
  void set_pool(unsigned pool) noexcept { put(pool); }
  void pin(unsigned worker) noexcept { put(pinned_bit | worker); }
  void seat(unsigned worker) noexcept { put(pinned_bit | gang_bit | worker); }

 private:
  static constexpr std::uint16_t pinned_bit = 0x8000;
  static constexpr std::uint16_t gang_bit = 0x4000;

  std::uint16_t get() const noexcept { return value_.load(std::memory_order_relaxed); }  // relaxed: see above
  void put(unsigned value) noexcept { value_.store(static_cast<std::uint16_t>(value), std::memory_order_relaxed); }

  std::atomic<std::uint16_t> value_{no_worker};
};

// It belongs to the one that runs it, holds it in a queue, or will wake it: exactly one at a time ([fiber:1] in
// README.md). Only that owner touches a field whose comment names no other.
struct alignas(64) thread {
  // --- The first cache line: the fields that a switch touches.

  // The place of the registers of a suspended thread. It is odd while the thread's first frame has not been written
  // (not_begun).
  void* stack_pointer{nullptr};
  // The link of the ready queue, or of a list of free blocks.
  thread* next{nullptr};

  struct {
    // The code that it runs. `call` is for a group's child, and is called once with `closure`. `start` is for a plain
    // thread that has not begun, and goes into the first frame.
    union {
      void (*call)(void* closure) noexcept {nullptr};
      void (*start)(thread* self);
    };
    // The argument of that code. `closure` is for a group's child or a plain thread; it lies in the argument area of
    // its stack, which ends there. `job` is for a thread that runs jobs: the first job. `argument` is for a thread that
    // the runtime makes for itself.
    union {
      void* closure{nullptr};
      detail::job* job;
      void* argument;
    };
  } body;

  // The runtime whose workers run it.
  worker::runtime* home{nullptr};

  class completion completion;

  // True if this thread's continuation was taken, at a spawn, by another thread than its child. The taker sets it
  // before it resumes the thread.
  bool taken{false};
  // True for a group's child that the group's counter includes from the start.
  bool counted{false};
  // The size class of its stack, or no_size_class.
  std::uint8_t size_class{0};

  // Its priority level: its own, or an inherited one. It is written under the lock of inherited levels
  // (worker/order/inheritance.cpp) once the thread is known to others. Other threads may read an old value.
  std::atomic<std::int8_t> level{0};

  // The number of children that this thread has spawned so far. The last child reads it, to know whether that is its
  // own spawn.
  std::atomic<std::uint32_t> spawns{0};

  // The additional data of a thread that can be preempted, or null if the thread runs until it waits. A thread that
  // ends clears it. So the maker of a thread that is not preemptive need not clear it, in a runtime whose threads are
  // not preemptive by default.
  preemptible* preemptive{nullptr};

  // --- The second cache line: further fields that the maker of a thread writes. Its last word is the first word of
  // `scheduling`.

  // Its ties to other threads, and to workers.
  struct {
    // `spawner` is set for a group's child, and for a second half that runs before its fork's owner; for the latter it
    // is that owner. It is null for any other. `joiner` is for a thread that was called. `in_front` is for a thread
    // that has not begun, while lies_in is set: its neighbour in the ready queue, if that neighbour is still there.
    union {
      thread* spawner{nullptr};
      thread* joiner;
      thread* in_front;
    };
    // `spawn_number` is for a group's child: the spawner's `spawns` when the child was made. `chain_length` is for the
    // first block of a chain of free light threads (light_threads.hpp).
    union {
      std::uint32_t spawn_number{0};
      std::uint32_t chain_length;
    };
    // The worker that it ran on last, or no_worker. It is kept on a simulated platform only.
    std::uint16_t worker_rank{0};
    belonging belongs;
  } ties;

  // For dumps.
  struct {
    const char* name{nullptr};
    const char* waits_for{nullptr};  // set while the thread is parked
  } shown;

  // `group` is for a group's child. `function` is for a plain thread, and is called with `closure`.
  union {
    detail::group_state* group{nullptr};
    void (*function)(void* closure) noexcept;
  };

  // [fiber:4]: the block at the top of the stack that it runs on. That is the thread itself or, for a light thread, a
  // block whose own `stack` leads back meanwhile. Null for a light thread that never had a stack.
  thread* stack{nullptr};

  // For a plain thread that has not begun: the ready queue that its maker put it into, while it is there. It is written
  // under that queue's lock.
  std::atomic<worker::ready_queue*> lies_in{nullptr};

  // The policy's own data (ranges, identities). Its word is cleared when the thread is made.
  policy::task scheduling;

  // --- Fields that are seldom used.

  // Its number, for traces and dumps.
  std::uint64_t id{0};
  // The worker that took the block from the pool, for itself. Null if the block belongs to no cache.
  worker::worker* cache{nullptr};

  // Its place in lists of ready threads beside the normal level (worker/order/priorities.hpp).
  struct {
    // The second link of such a list. In free light threads it is the link from chain to chain.
    thread* newer{nullptr};
    // The list that it is in, 0 if none; written under that list's lock.
    std::atomic<int> in{0};
    // `longer` and its counterpart link all threads of a pile below the normal level, in the order in which they became
    // ready. `seat` is for a thread in a gang, which is in no pile.
    union {
      thread* longer{nullptr};
      worker::seat* seat;
    };
    thread* shorter{nullptr};
    std::uint64_t ready_since{0};  // the time when it became ready (platform::cycles)
  } listed;

  // The levels that it inherits (worker/order/inheritance.cpp), all under the lock of inherited levels.
  struct {
    std::int8_t own_level{0};  // its own level; meaningful while it inherits any
    std::uint16_t count{0};
    std::uint16_t times[15]{};  // how often it inherits each level, the lowest first
    detail::inheriting_lock* blocked_on{
        nullptr};  // the lock that it waits for, if levels are inherited through that lock
  } inherited;

  // Its stack.
  struct {
    std::size_t bytes{0};       // the usable bytes, control block included
    stack_pool* pool{nullptr};  // the pool that the stack is from
    void* low{nullptr};         // the lowest usable address, above the guard
    // While its stack pointer is above this address, it runs children of its groups by calls, because each of them then
    // has nearly a default stack. The highest address means never.
    void* children_above{reinterpret_cast<void*>(~std::uintptr_t{0})};
  } stack_memory;

  // The resources that it has used so far, and the innermost of its forks that are timed (worker/time/task_meter.hpp).
  // Null if the policy does not want to know, before it begins, and after it has ended as a task.
  struct {
    worker::account* kept{nullptr};
    worker::fork_time* open_forks{nullptr};
  } metered;

  // The handles by which tools know the stack.
  struct {
    void* fiber{nullptr};  // ThreadSanitizer's handle or AddressSanitizer's fake stack
    unsigned valgrind{0};  // valgrind's number of the stack
  } tools;

  // Its thread slots ([slot:1] of src/worker/carriers/slots.md). Null in a block that no worker runs.
  void* slots[detail::thread_slots]{};
};
static_assert(offsetof(thread, slots) == detail::slots_of_thread);

// Its links, for lists (heddle/detail/linked_list.hpp).
inline thread*& newer_of(thread& t) noexcept { return t.listed.newer; }
inline thread*& longer_of(thread& t) noexcept { return t.listed.longer; }
inline thread*& shorter_of(thread& t) noexcept { return t.listed.shorter; }

// Returns the stack pointer of a thread whose first frame has not been written: the beginning of its stack, and a bit.
// The worker that switches to the thread writes the frame, for `call` (its body.start). A joiner that calls it needs
// none.
inline void* not_begun(void* stack_top) noexcept { return static_cast<char*>(stack_top) + 1; }
inline bool is_not_begun(const void* stack_pointer) noexcept {
  return (reinterpret_cast<std::uintptr_t>(stack_pointer) & 1) != 0;
}

// Returns true if the thread was made without a stack.
inline bool is_light(const thread& t) noexcept { return t.stack != &t; }

// Returns the thread on the stack at whose top `block` lies ([fiber:4]). If the pages of that stack were given back,
// the block reads as zero. It is a hint, for dumps, because workers may meanwhile give the stack to another thread.
// Blocks stay as long as their pool, so reading is safe.
const thread* thread_on(const thread& block) noexcept;

// Fetches the words that making a thread writes and that running it for the first time reads. With hundreds of live
// threads none of them is in the first-level cache. Null does no harm. Addresses are computed as numbers, because a
// pointer must not leave the object that it points into.
inline void prefetch_block(const thread* t) noexcept {
  const auto block = reinterpret_cast<std::uintptr_t>(t);
  __builtin_prefetch(reinterpret_cast<const void*>(block - 64));  // closure
  __builtin_prefetch(reinterpret_cast<const void*>(block));
  __builtin_prefetch(reinterpret_cast<const void*>(block + 64));
}

// Returns the place of a new thread's closure: directly below `top`, which is its control block or what lies below
// that.
inline char* argument_area(void* top, std::size_t bytes, std::size_t alignment) noexcept {
  auto address = reinterpret_cast<std::uintptr_t>(top) - bytes;
  return reinterpret_cast<char*>(address & ~(static_cast<std::uintptr_t>(alignment) - 1));
}

}  // namespace heddle::fiber

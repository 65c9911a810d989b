// A user-level thread: the control block. It sits at the top of its own stack, or, of a light thread, in a slab of such
// blocks: that one is made without a stack and lent one when it begins.
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
struct lendable;
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
inline constexpr std::uint8_t no_size_class = 0xff;  // of a light thread

// Where a thread belongs: to the pool that it goes back to under thread packing (unknown at first), or to the worker
// that it is pinned to, by its maker, or as long as it is in a gang (worker/gangs/gangs.md), which may give it another
// worker while it does not run. Written by the thread's owner, or by who puts its gang on. Whether it is pinned is
// settled before anybody else knows of the thread, or by the thread itself, and a lender of a level asks that at any
// time (precedence.cpp): hence an atomic, without an order.
class belonging {
 public:
  static constexpr unsigned limit = 0x3fff;  // of ranks

  bool is_known() const noexcept { return get() != no_worker; }
  bool is_pinned() const noexcept { return get() >= pinned_bit && is_known(); }
  // It is pinned because it is in a gang.
  bool is_seated() const noexcept { return get() >= (pinned_bit | gang_bit) && is_known(); }
  // The pool's or the worker's rank. It is known.
  unsigned rank() const noexcept { return get() & limit; }

  void clear() noexcept { put(no_worker); }
  void set_pool(unsigned pool) noexcept { put(pool); }
  void pin(unsigned worker) noexcept { put(pinned_bit | worker); }
  void seat(unsigned worker) noexcept { put(pinned_bit | gang_bit | worker); }

 private:
  static constexpr std::uint16_t pinned_bit = 0x8000;
  static constexpr std::uint16_t gang_bit = 0x4000;

  std::uint16_t get() const noexcept { return value_.load(std::memory_order_relaxed); }  // see above
  void put(unsigned value) noexcept { value_.store(static_cast<std::uint16_t>(value), std::memory_order_relaxed); }

  std::atomic<std::uint16_t> value_{no_worker};
};

// Owned by whoever runs it, holds it in a queue, or will wake it: exactly one at a time ([fiber:1] in README.md). A
// field of which nobody else is named is touched by that owner alone.
struct alignas(64) thread {
  // --- The first cache line: what a switch touches.

  // Where the registers of a suspended thread lie. It is odd while its first frame has not been written (not_begun).
  void* stack_pointer{nullptr};
  // The link of the ready queue, or of a list of free blocks.
  thread* next{nullptr};

  struct {
    // What it runs. `call`: of a group's child, called once with `closure`. `start`: of a plain thread that has not
    // begun, for the first frame.
    union {
      void (*call)(void* closure) noexcept {nullptr};
      void (*start)(thread* self);
    };
    // With what. `closure`: of a group's child or a plain thread, in the argument area of its stack, which ends there.
    // `job`: of a thread that runs jobs, the first one. `argument`: of a thread that the runtime makes for itself.
    union {
      void* closure{nullptr};
      detail::job* job;
      void* argument;
    };
  } body;

  // The runtime whose workers run it.
  worker::runtime* home{nullptr};

  class completion completion;

  // Somebody else than its child has taken this thread's continuation, at a spawn. Set by the taker, before it resumes
  // the thread.
  bool taken{false};
  // It is a group's child that the group's counter knows of from the start.
  bool counted{false};
  // Of its stack, or no_size_class.
  std::uint8_t size_class{0};

  // Its priority: its own, or a lent one. Written under the lock of loans (worker/order/inheritance.cpp) once the
  // thread is known to others. What others read may be old.
  std::atomic<std::int8_t> level{0};

  // How many children this thread has spawned so far. The last child reads it, to know whether that is its own spawn.
  std::atomic<std::uint32_t> spawns{0};

  // What a thread that can be preempted has besides. Null: it runs until it waits. Who ends clears it, so that whoever
  // makes a thread that is not preemptive, in a runtime whose threads are not as a rule, need not.
  preemptible* preemptive{nullptr};

  // --- The second cache line: what the maker of a thread writes besides. Its last word is the first one of
  // `scheduling`.

  // Its ties to other threads, and to workers.
  struct {
    // `spawner`: of a group's child; of a second half that runs before its fork's owner, that one, else null. `joiner`:
    // of a thread that was called. `in_front`: of a thread that has not begun, while lies_in is set, its neighbour in
    // the ready queue, if that one still is there.
    union {
      thread* spawner{nullptr};
      thread* joiner;
      thread* in_front;
    };
    // `spawn_number`: of a group's child, the spawner's `spawns` when it was made. `chain_length`: of the first one of
    // a chain of free light threads (light_threads.hpp).
    union {
      std::uint32_t spawn_number{0};
      std::uint32_t chain_length;
    };
    // The worker that it ran on last, or no_worker. Kept on a simulated platform only.
    std::uint16_t worker_rank{0};
    belonging belongs;
  } ties;

  // For dumps.
  struct {
    const char* name{nullptr};
    const char* waits_for{nullptr};  // while it is parked
  } shown;

  // `group`: of a group's child. `function`: of a plain thread, called with `closure`.
  union {
    detail::group_state* group{nullptr};
    void (*function)(void* closure) noexcept;
  };

  // [fiber:4]: the block at the top of the stack that it runs on. That is the thread itself, or, of a light thread, a
  // block whose own `stack` leads back meanwhile. Null: a light thread that never had a stack.
  thread* stack{nullptr};

  // A plain thread that has not begun: the ready queue that its maker put it into, while it is there. Written under
  // that queue's lock.
  std::atomic<worker::ready_queue*> lies_in{nullptr};

  // the policy's own (ranges, identities); its word is cleared when the thread is made
  policy::task scheduling;

  // --- What is seldom used.

  // Its number, for traces and dumps.
  std::uint64_t id{0};
  // The worker that took the block from the pool, for itself. Null: it is of nobody's cache.
  worker::worker* cache{nullptr};

  // Where it stands in lists of ready threads beside the normal level (worker/order/priorities.hpp).
  struct {
    // The second link of such a list (and of free light threads, the link from chain to chain).
    thread* newer{nullptr};
    std::atomic<int> in{0};  // which of them, 0: none; written under that list's lock
    // Links of all threads of a pile below the normal level, in the order in which they became ready; `seat` of one in
    // a gang, which stands in no pile.
    union {
      thread* longer{nullptr};
      worker::seat* seat;
    };
    thread* shorter{nullptr};
    std::uint64_t ready_since{0};  // when it did (platform::cycles)
  } listed;

  // Levels that are lent to it (worker/order/inheritance.cpp), all under the lock of loans.
  struct {
    std::int8_t own_level{0};  // its own; meaningful while anything is lent to it
    std::uint16_t count{0};
    std::uint16_t lent[15]{};               // how often each level is, the lowest first
    detail::lendable* blocked_on{nullptr};  // the lock that it waits for, if that is one that lends
  } loans;

  // Its stack.
  struct {
    std::size_t bytes{0};       // the usable ones, control block included
    stack_pool* pool{nullptr};  // that it is from
    void* low{nullptr};         // the lowest usable address, above the guard
    // While its stack pointer is above this address, it runs children of its groups by calls: each of them has nearly a
    // default stack then. The highest address: never.
    void* children_above{reinterpret_cast<void*>(~std::uintptr_t{0})};
  } stack_memory;

  // What it has used so far, and the innermost of its forks that are timed (worker/time/task_meter.hpp). Null where the
  // policy does not want to know, and before it begins and after it has ended as a task.
  struct {
    worker::account* kept{nullptr};
    worker::fork_time* open_forks{nullptr};
  } metered;

  // What tools know the stack by.
  struct {
    void* fiber{nullptr};  // ThreadSanitizer's handle or AddressSanitizer's fake stack
    unsigned valgrind{0};  // its number
  } tools;

  // Its thread slots ([slot:1] of src/worker/carriers/slots.md). Null in a block that nobody runs.
  void* slots[detail::thread_slots]{};
};
static_assert(offsetof(thread, slots) == detail::slots_of_thread);

// Its links, for lists (heddle/detail/linked_list.hpp).
inline thread*& newer_of(thread& t) noexcept { return t.listed.newer; }
inline thread*& longer_of(thread& t) noexcept { return t.listed.longer; }
inline thread*& shorter_of(thread& t) noexcept { return t.listed.shorter; }

// The stack pointer of a thread whose first frame has not been written: where its stack begins, and a bit. Whoever
// switches to it writes the frame, for `call` (its body.start); a joiner that calls it needs none.
inline void* not_begun(void* stack_top) noexcept { return static_cast<char*>(stack_top) + 1; }
inline bool is_not_begun(const void* stack_pointer) noexcept {
  return (reinterpret_cast<std::uintptr_t>(stack_pointer) & 1) != 0;
}

// Made without a stack.
inline bool is_light(const thread& t) noexcept { return t.stack != &t; }

// The thread that is on the stack at whose top `block` lies ([fiber:4]). If the pages of that stack were given back the
// block reads as zero. A hint, for dumps: nobody keeps workers from lending the stack to another meanwhile. Blocks stay
// as long as their pool, so that reading is safe.
const thread* thread_on(const thread& block) noexcept;

// Fetches what making a thread writes and what running it for the first time reads: with hundreds alive none of it is
// in the first-level cache. Null does no harm. Addresses are computed as numbers, for a pointer must not leave the
// object that it points into.
inline void prefetch_block(const thread* t) noexcept {
  const auto block = reinterpret_cast<std::uintptr_t>(t);
  __builtin_prefetch(reinterpret_cast<const void*>(block - 64));  // closure
  __builtin_prefetch(reinterpret_cast<const void*>(block));
  __builtin_prefetch(reinterpret_cast<const void*>(block + 64));
}

// Where a new thread's closure may lie: directly below `top`, its control block or what stands below that.
inline char* argument_area(void* top, std::size_t bytes, std::size_t alignment) noexcept {
  auto address = reinterpret_cast<std::uintptr_t>(top) - bytes;
  return reinterpret_cast<char*>(address & ~(static_cast<std::uintptr_t>(alignment) - 1));
}

}  // namespace heddle::fiber

// The private-first work-stealing deque: what the fork and join of every task touches. Protocol, invariants and proof:
// src/queue/README.md. Sources: Acar, Chargueraud, Rainey, "Scheduling parallel programs by work stealing with private
// deques" (PPoPP 2013); van Dijk, van de Pol, "Lace" (2014); Chase, Lev (SPAA 2005); docs/investigations/deque.md.
#pragma once

#include <atomic>
#include <cstdint>

#include <heddle/detail/current.hpp>
#include <heddle/export.hpp>

namespace heddle::detail {

// A unit of work whose memory belongs to somebody else: the frame of a fork, a graph node, a heap block. One word, so that
// a fork writes one: the address of its code first; while its owner waits, that waiter with the top bit set (the code is
// then in the waiter's payload); `job_done` or `job_failed` at the end. Written by the owner before it is queued, by its
// owner's wait, and by whoever finishes it; publishes the work's effects.
struct job {
  using code = void (*)(job*) noexcept;   // called once, on a user-level thread, on any worker; the job may be gone after it
  job() = default;
  explicit job(code run) noexcept : word(reinterpret_cast<std::uintptr_t>(run)) {}
  std::atomic<std::uintptr_t> word;
};
inline constexpr std::uintptr_t job_done = 1;
inline constexpr std::uintptr_t job_failed = 2;
inline constexpr std::uintptr_t job_waiter_bit = std::uintptr_t{1} << 63;

// One entry of a queue: a job, or a user-level thread to be continued (lowest bit set), or nothing (0).
using entry = std::uintptr_t;
using slot = std::atomic<entry>;

inline entry entry_of(job* work) noexcept { return reinterpret_cast<entry>(work); }

// base <= top <= split <= bottom <= end. [top, split) is public: taken only under `guard`. [split, bottom) is private:
// the owner pushes and pops there with plain loads and stores.
struct fork_queue {
  // Owner's line. `bottom`: written by the owner, read by thieves that force a steal; publishes the slot below it.
  alignas(64) std::atomic<slot*> bottom{nullptr};
  slot* base{nullptr};
  slot* end{nullptr};
  void* running{nullptr};       // the user-level thread on this worker, null in the run loop
  bool watches_groups{false};   // the policy wants to hear of task groups; set before the worker starts

  // Limits, both read at each fork and join by the owner, written under `guard` alone (by owner or thief).
  // push_limit: a push at or above it takes the slow path (overflow, a request, a policy that wants every fork).
  // pop_limit: a pop below it takes the slow path; never less than `split` while the guard is free.
  alignas(64) std::atomic<slot*> push_limit{nullptr};
  std::atomic<slot*> pop_limit{nullptr};
  std::atomic<bool> requested{false};

  // Shared line: thieves poll top and split; written under `guard`.
  alignas(64) std::atomic<slot*> top{nullptr};
  std::atomic<slot*> split{nullptr};
  std::atomic<bool> guard{false};
  std::uint64_t epoch{0};       // under guard: counts the owner's slow pops, which lower pop_limit
  bool every_fork{false};       // under guard: the policy asked to see every fork
};

// What a push returns and its pop wants back; null: the queue was full and nothing was queued.
using ticket = slot*;

// Slow paths, out of line. push_slow returns foreign_ticket when the caller is on no worker.
HEDDLE_API ticket push_slow(fork_queue* queue, entry item) noexcept;
// The owner has already lowered bottom to `position`; true when the entry there is still its own.
HEDDLE_API bool pop_slow(fork_queue* queue, slot* position) noexcept;

inline const ticket foreign_ticket = reinterpret_cast<ticket>(std::uintptr_t{1});

// Offers `item` to thieves. Thread context: any.
[[gnu::always_inline]] inline ticket push(entry item) noexcept {
  fork_queue* queue = current_queue();
  slot* position = queue->bottom.load(std::memory_order_relaxed);  // owner's own variable
  // relaxed: a request that is missed here is seen at the next fork or join
  if (position >= queue->push_limit.load(std::memory_order_relaxed)) [[unlikely]] return push_slow(queue, item);
  position->store(item, std::memory_order_relaxed);               // published by the store below
  queue->bottom.store(position + 1, std::memory_order_release);   // pairs with force_steal: the slot and the job's fields
  return position;
}

// Takes `item` back if it is the newest entry of the worker that the caller is on now (which need not be the worker
// that pushed it). False: somebody else has it or will have it, or it was never queued.
// bottom is written from the ticket, not from its own old value: forks and joins then do not form one long chain of
// store-to-load forwardings through it.
[[gnu::always_inline]] inline bool pop(entry item, ticket position) noexcept {
  fork_queue* queue = current_queue();
  if (queue->bottom.load(std::memory_order_relaxed) != position + 1) [[unlikely]] return false;  // owner's own variable
  if (position->load(std::memory_order_relaxed) != item) [[unlikely]] return false;              // only the owner writes slots
  queue->bottom.store(position, std::memory_order_relaxed);  // pairs with force_steal through its membarrier: the entry is mine
  std::atomic_signal_fence(std::memory_order_seq_cst);       // the processor's half of this fence is the thief's membarrier
  if (position < queue->pop_limit.load(std::memory_order_relaxed)) [[unlikely]] return pop_slow(queue, position);
  return true;
}

}  // namespace heddle::detail

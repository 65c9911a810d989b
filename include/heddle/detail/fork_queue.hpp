// The private-first work-stealing deque: what the fork and join of every task touches. Protocol and invariants:
// src/queue/README.md; proof: src/queue/proof.md. Sources: Acar, Chargueraud, Rainey, "Scheduling parallel programs by
// work stealing with private deques" (PPoPP 2013); van Dijk, van de Pol, "Lace" (2014); Chase, Lev (SPAA 2005);
// docs/investigations/deque.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <heddle/detail/current.hpp>
#include <heddle/export.hpp>

namespace heddle::detail {

struct waiter;

// A unit of work whose memory belongs to somebody else: the frame of a fork, a graph node, a heap block. It is one
// word, so that a fork writes no more than that. The word is the address of its code at first; while its owner waits,
// the owner's waiter with the top bit set (the code is then in the waiter's payload); at the end 1 or 2. Written by the
// owner before the job is queued, by the owner when it waits, and by whoever finishes it; publishes the work's effects.
class job {
 public:
  // Called once, on a user-level thread, on any worker; the job may be gone after it.
  using code = void (*)(job*) noexcept;
  enum class end : std::uintptr_t { done = 1, failed = 2 };

  // What the word says at one moment.
  class state {
   public:
    bool is_over() const noexcept { return is(end::done) || is(end::failed); }
    bool is(end how) const noexcept { return word_ == static_cast<std::uintptr_t>(how); }
    // The owner's waiter; null: the owner does not wait.
    waiter* awaited_by() const noexcept {
      return (word_ & waiter_bit) != 0 ? reinterpret_cast<waiter*>(word_ & ~waiter_bit) : nullptr;
    }
    // Null where the job is over, and where its owner waits.
    code to_run() const noexcept {
      return is_over() || (word_ & waiter_bit) != 0 ? nullptr : reinterpret_cast<code>(word_);
    }

   private:
    friend class job;
    explicit state(std::uintptr_t word) noexcept : word_(word) {}
    std::uintptr_t word_;
  };

  job() = default;
  explicit job(code run) noexcept : word_(reinterpret_cast<std::uintptr_t>(run)) {}

  // acquire pairs with finish: the work's effects; and with await: the waiter
  state now(std::memory_order order = std::memory_order_acquire) const noexcept { return state(word_.load(order)); }
  // Owner, before anybody else knows of the job, or of one for which nobody ever waits: its code.
  code own_code() const noexcept { return reinterpret_cast<code>(word_.load(std::memory_order_relaxed)); }
  // Owner: from now on `w` waits, whose payload is the code. False: the job is over.
  [[nodiscard]] bool await(code run, waiter& w) noexcept {
    auto expected = reinterpret_cast<std::uintptr_t>(run);
    return word_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&w) | waiter_bit);
  }
  // Who has run it, last. Returns what the word said: if the owner waits, it is to be woken.
  state finish(end how) noexcept { return state(word_.exchange(static_cast<std::uintptr_t>(how))); }

 private:
  static constexpr std::uintptr_t waiter_bit = std::uintptr_t{1} << 63;
  std::atomic<std::uintptr_t> word_;
};

struct group_child;  // <heddle/task_group.hpp>

// One entry of a queue: a job, or a user-level thread to be continued (lowest bit set), or nothing (0).
using entry = std::uintptr_t;
using slot = std::atomic<entry>;

inline entry entry_of(job* work) noexcept { return reinterpret_cast<entry>(work); }

// base <= top <= split <= bottom <= end. [top, split) is public: anybody takes from it, by a compare-and-swap of
// `open`. [split, bottom) is private: the owner pushes and pops there with plain loads and stores.
struct fork_queue {
  // Owner's line. `bottom`: written by the owner, read by thieves that force a steal; publishes the slot below it.
  alignas(64) std::atomic<slot*> bottom{nullptr};
  slot* base{nullptr};
  slot* end{nullptr};          // one slot more exists: a push stores before it looks at its limit
  void* running{nullptr};      // the user-level thread on this worker, null in the run loop
  bool watches_groups{false};  // the policy wants to hear of task groups; set before the worker starts
  bool every_fork{false};      // the policy or a trace wants to see every fork; owner's
  bool every_join{false};      // a trace wants to see every join, too: pops take the slow path; owner's
  // This queue stands for a thread (below), or threads that are made here are preemptive as a rule, or a pinned thread
  // has run here: what is made, and by whom, is to be looked at. Set before the worker starts, or by its owner.
  bool preempts{false};
  bool queues_children{false};  // no policy and no trace watches children of groups: they go to this queue; owner's
  // Yields take the slow path: the policy is to be asked before a pick, threads are packed or have priorities, or this
  // queue stands for a thread.
  std::atomic<bool> picks_specially{false};
  // Null: a worker's queue. Else this is what the code of a preemptive thread meets in place of a worker's queue, and
  // the word names that thread. Such a queue belongs to the thread and goes where it goes, so a preemption between any
  // two instructions here does no harm; its slow paths are always taken.
  void* stands_for{nullptr};
  group_child* spare_children{nullptr};  // free blocks for children of groups; owner's

  // Both limits are read by the owner at each fork and join. Anybody may poison them (push_limit = base, pop_limit
  // above every slot); only the owner stores anything else. push_limit: a push that reaches it takes the slow path
  // (overflow, a request, a policy that wants every fork). pop_limit: a pop below it takes the slow path; never less
  // than split while the owner is on its fast path ([queue:2]).
  alignas(64) std::atomic<slot*> push_limit{nullptr};
  std::atomic<slot*> pop_limit{nullptr};
  // A thief is hungry. Raised by thieves, and by the owner on behalf of sleepers; cleared by the owner when it answers.
  std::atomic<bool> requested{false};
  // Forced steals take nothing from here on: a fork that has been pushed, and that the policy may make a task of, is
  // not theirs before its slow path has asked ([queue:10]). Written by the owner, before the push.
  std::atomic<slot*> settled{nullptr};

  // {tag:32, count:12, top:20}: top, and split = top + count, as distances from base. The tag counts the owner's
  // commits ([queue:5]). Changed by thieves and the owner; publishes the public entries and their jobs.
  alignas(64) std::atomic<std::uint64_t> open{0};
};

// What a push returns and the pop that belongs to it wants back. Null: the queue was full and nothing was queued;
// foreign_ticket: the caller is on no worker.
using ticket = slot*;

// Slow paths, out of line, with the entry stored and bottom moved already. push_slow returns null when the queue was
// full. pop_slow: true when the entry at `position` is still the owner's.
HEDDLE_API ticket push_slow(fork_queue* queue, slot* position) noexcept;
// The same for the second half of a fork. A policy may make it a task of its own; the caller may then go on on another
// worker.
HEDDLE_API ticket push_fork_slow(fork_queue* queue, slot* position, double first, double second,
                                 std::size_t bytes) noexcept;
// The same without hints, which saves instructions at each fork.
HEDDLE_API ticket push_fork_slow(fork_queue* queue, slot* position) noexcept;
HEDDLE_API bool pop_slow(fork_queue* queue, slot* position) noexcept;

inline constexpr double unknown_work = std::numeric_limits<double>::quiet_NaN();

inline const ticket foreign_ticket = reinterpret_cast<ticket>(std::uintptr_t{1});

// Stores `item`; calls slow(queue, position) if a limit says so. The limit is read after bottom is stored. With a
// sleeper's {poison, heavy fence, read bottom} this is Dekker's algorithm: either the sleeper sees the entry, or this
// push sees the poison.
template <class Slow>
[[gnu::always_inline]] inline ticket push_or(entry item, Slow slow) noexcept {
  fork_queue* queue = current_queue();
  if (queue == nullptr) [[unlikely]]
    return foreign_ticket;
  slot* position = queue->bottom.load(std::memory_order_relaxed);  // owner's own variable
  position->store(item, std::memory_order_relaxed);                // published by the store below, or by `open`
  queue->bottom.store(position + 1, std::memory_order_release);    // pairs with force_steal: the slot and the job
  // for the compiler; the processor's fence is executed by the sleeper ([sleep:4])
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // pairs with the sleeper's poison through its heavy fence; a searcher's request that is missed here is seen next time
  if (position + 1 >= queue->push_limit.load(std::memory_order_relaxed)) [[unlikely]]
    return slow(queue, position);
  return position;
}

// Offers `item` to thieves. Thread context: any.
[[gnu::always_inline]] inline ticket push(entry item) noexcept { return push_or(item, push_slow); }

// Offers the second half of a fork; the ticket goes to its pop, and when that fails to join_slow. The hints of both
// halves' work and bytes are for policies that look at every fork; NaN and 0: not known.
[[gnu::always_inline]] inline ticket push_fork(entry item, double first, double second,
                                               std::size_t bytes = 0) noexcept {
  return push_or(
      item, [&](fork_queue* queue, slot* position) { return push_fork_slow(queue, position, first, second, bytes); });
}
[[gnu::always_inline]] inline ticket push_fork(entry item) noexcept {
  return push_or(item, [](fork_queue* queue, slot* position) { return push_fork_slow(queue, position); });
}

// Takes `item` back if it is the newest entry of the worker that the caller is on now (which need not be the worker
// that pushed it). False: somebody else has it or will have it, or it was never queued. bottom is written from the
// ticket and not from its own old value. So forks and joins do not form one long chain of store-to-load forwardings
// through it.
[[gnu::always_inline]] inline bool pop(entry item, ticket position) noexcept {
  fork_queue* queue = current_queue();
  if (queue->bottom.load(std::memory_order_relaxed) != position + 1) [[unlikely]]
    return false;  // owner's own variable
  // only the owner writes slots
  if (position->load(std::memory_order_relaxed) != item) [[unlikely]]
    return false;
  // pairs with force_steal through its heavy fence: the entry is mine. release: who reads this sees the entries below
  queue->bottom.store(position, std::memory_order_release);
  // for the compiler; the processor's fence is executed by the thief ([force:4])
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // pairs with force_steal's poison through its heavy fence
  if (position < queue->pop_limit.load(std::memory_order_relaxed)) [[unlikely]]
    return pop_slow(queue, position);
  return true;
}

}  // namespace heddle::detail

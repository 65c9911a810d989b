// The split work-stealing deque, which every fork and join touches. Protocol and invariants: src/queue/README.md;
// proof: src/queue/proof.md. Sources: Acar, Chargueraud, Rainey, "Scheduling parallel programs by work stealing with
// private deques" (PPoPP 2013); van Dijk, van de Pol, "Lace" (2014); Chase, Lev (SPAA 2005);
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

// A unit of work whose memory belongs to its owner: the frame of a fork, a graph node, a heap block. It is a single
// word, so that a fork writes no more than that. At first the word is the address of the job's code. While the owner
// waits, it is the address of the owner's waiter with the top bit set, and the code is in the waiter's payload. At the
// end it is 1 or 2. The owner writes it before the job is queued and when it waits; the worker that finishes the job
// writes it last. It publishes the work's effects.
class job {
 public:
  // Called once, on a user-level thread, on any worker. The job may be gone after the call.
  using code = void (*)(job*) noexcept;
  enum class end : std::uintptr_t { done = 1, failed = 2 };

  // The value of the word at one moment.
  class state {
   public:
    bool is_over() const noexcept { return is(end::done) || is(end::failed); }
    bool is(end how) const noexcept { return word_ == static_cast<std::uintptr_t>(how); }
    // Returns the owner's waiter, or null if the owner does not wait.
    waiter* awaited_by() const noexcept {
      return (word_ & waiter_bit) != 0 ? reinterpret_cast<waiter*>(word_ & ~waiter_bit) : nullptr;
    }
    // Returns null if the job is over or if its owner waits.
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

  // acquire pairs with finish: the work's effects; acquire pairs with await: the waiter
  state now(std::memory_order order = std::memory_order_acquire) const noexcept { return state(word_.load(order)); }
  // Returns the job's code. Only the owner may call this: before any other thread knows of the job, or for a job that
  // is never waited for.
  code own_code() const noexcept { return reinterpret_cast<code>(word_.load(std::memory_order_relaxed)); }
  // Called by the owner: makes `w`, whose payload is the code, wait for the job. Returns false if the job is over.
  [[nodiscard]] bool await(code run, waiter& w) noexcept {
    auto expected = reinterpret_cast<std::uintptr_t>(run);
    return word_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&w) | waiter_bit);
  }
  // Called by the worker that has run the job, as its last access. Returns the word's old value; if the owner waits,
  // the caller must wake it.
  state finish(end how) noexcept { return state(word_.exchange(static_cast<std::uintptr_t>(how))); }

 private:
  static constexpr std::uintptr_t waiter_bit = std::uintptr_t{1} << 63;
  std::atomic<std::uintptr_t> word_;
};

struct group_child;  // <heddle/task_group.hpp>

// One entry of a queue: a job, a user-level thread to be continued (lowest bit set), or nothing (0).
using entry = std::uintptr_t;
using slot = std::atomic<entry>;

inline entry entry_of(job* work) noexcept { return reinterpret_cast<entry>(work); }

// base <= top <= split <= bottom <= end. [top, split) is public: any thread takes from it by a compare-and-swap of
// `open`. [split, bottom) is private: the owner pushes and pops there with plain loads and stores.
struct fork_queue {
  // The owner's cache line. The owner writes `bottom`, and thieves that force a steal read it. It publishes the slot
  // below it.
  alignas(64) std::atomic<slot*> bottom{nullptr};
  slot* base{nullptr};
  // One more slot exists beyond `end`, because a push stores before it looks at its limit.
  slot* end{nullptr};
  void* running{nullptr};      // the user-level thread on this worker; null in the run loop
  bool watches_groups{false};  // true if the policy watches task groups; set before the worker starts
  bool every_fork{false};      // true if the policy or a trace watches every fork; the owner's
  bool every_join{false};      // true if a trace also watches every join, so pops take the slow path; the owner's
  // True if the creation of threads needs a closer look: this queue stands for a thread (see below), or threads that
  // are made here are preemptive by default, or a pinned thread has run here. Set before the worker starts, or by the
  // owner.
  bool preempts{false};
  // True if neither a policy nor a trace watches the children of groups, so they go to this queue; the owner's.
  bool queues_children{false};
  // The reasons for which picks and yields take the slow path; 0 if there is none. Any thread may add or remove one.
  enum pick_reason : std::uint8_t {
    // The policy is asked before a pick, or threads are packed or have priorities, or this queue stands for a thread.
    special_threads = 1,
    something_waits = 2,  // a kernel thread has reminded the worker: the worker has not looked at what waits for longer
                          // than the bound
    has_interrupted = 4,  // a thread that has given way to what waited goes on before the worker's forks
  };
  std::atomic<std::uint8_t> picks_specially{0};
  // Null in a worker's queue. Otherwise the queue replaces a worker's queue for the code of a preemptive thread, and
  // this is that thread. Such a queue belongs to the thread and moves with it, so a preemption between any two
  // instructions here does no harm. Its slow paths are always taken.
  void* stands_for{nullptr};
  group_child* spare_children{nullptr};  // free blocks for children of groups; the owner's
  // From this time on (loop_cycles) the worker looks at what waits, at the next boundary of its work. The owner's; a
  // kernel thread that reminds it stores 0. Never, in the queue of a preemptive thread: its ticks do the same.
  std::atomic<std::uint64_t> serves_at{std::numeric_limits<std::uint64_t>::max()};

  // The owner reads both limits at each fork and join. Any thread may poison them (push_limit = base, pop_limit above
  // every slot); only the owner stores anything else. A push that reaches push_limit takes the slow path (overflow, a
  // request, a policy that watches every fork). A pop below pop_limit takes the slow path. pop_limit is never less than
  // split while the owner is on its fast path ([queue:2]).
  alignas(64) std::atomic<slot*> push_limit{nullptr};
  std::atomic<slot*> pop_limit{nullptr};
  // True while a thief needs work. Thieves raise it, and the owner raises it on behalf of sleepers. The owner clears it
  // when it answers.
  std::atomic<bool> requested{false};

  // Forced steals take nothing at or above this slot. They must not take a fork that was pushed and that the policy may
  // make a task of, before the fork's slow path has asked the policy ([queue:10]). The owner writes it before the push.
  std::atomic<slot*> settled{nullptr};

  // The layout is {tag:32, count:12, top:20}: top, and split = top + count, as distances from base. The tag counts the
  // owner's commits ([queue:5]). Thieves and the owner change the word. It publishes the public entries and their jobs.
  alignas(64) std::atomic<std::uint64_t> open{0};
};

// The result of a push, which the matching pop needs. Null if the queue was full and nothing was queued; foreign_ticket
// if the caller is on no worker.
using ticket = slot*;

// The answer of a pop.
enum class popped : std::uint8_t {
  lost,  // another thread has the entry or will have it, or the caller must ask pop_for_preemptive
  mine,
  watched,  // mine, and a trace has been told that it begins; note_join tells that it has ended
};

// The slow paths are out of line. They are called when the entry is stored and bottom has moved. push_slow returns null
// if the queue was full.
HEDDLE_API ticket push_slow(fork_queue* queue, slot* position) noexcept;
// Does the same as push_slow for the second half of a fork. A policy may make that half a task of its own; the caller
// may then continue on another worker.
HEDDLE_API ticket push_fork_slow(fork_queue* queue, slot* position, double first, double second,
                                 std::size_t bytes) noexcept;
// Does the same without hints, which saves instructions at each fork.
HEDDLE_API ticket push_fork_slow(fork_queue* queue, slot* position) noexcept;
HEDDLE_API popped pop_slow(fork_queue* queue, slot* position) noexcept;
// The same for the runtime's own code, which must not be suspended and takes what the trace need not see.
popped pop_slow_unserved(fork_queue* queue, slot* position) noexcept;

// [service:1] Looks at what waits on this worker or for any worker, and lets one of it run before the caller goes on.
// May suspend and migrate the caller.
HEDDLE_API void serve_what_waits() noexcept;
// The same if the bound has passed by `now` (loop_cycles). To be called at boundaries of work where the time is known.
[[gnu::always_inline]] inline bool is_time_to_serve(std::uint64_t now) noexcept {
  return now >= current_queue()->serves_at.load(std::memory_order_relaxed);  // the owner's own, or a hint
}

inline constexpr double unknown_work = std::numeric_limits<double>::quiet_NaN();

inline const ticket foreign_ticket = reinterpret_cast<ticket>(std::uintptr_t{1});

// The one push and the one pop of the owner, which forks, loops and OpenMP's tasks use.
//
// Stores `item` as the newest entry and returns its position. The caller must then ask needs_slow_push, unless it
// leaves requests unanswered on purpose. The queue may be full: the slot behind `end` takes the item then, and
// needs_slow_push returns true.
[[gnu::always_inline]] inline slot* store_newest(fork_queue& queue, entry item) noexcept {
  slot* const position = queue.bottom.load(std::memory_order_relaxed);  // the owner's own variable
  position->store(item, std::memory_order_relaxed);                     // published by the store below, or by `open`
  queue.bottom.store(position + 1, std::memory_order_release);          // pairs with force_steal: the slot and the job
  // A fence for the compiler only; the sleeper executes the processor's fence ([sleep:4]).
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return position;
}
// The limit is read after bottom is stored. Together with a sleeper's {poison, heavy fence, read bottom} this is
// Dekker's algorithm: either the sleeper sees the entry, or this push sees the poison.
[[gnu::always_inline]] inline bool needs_slow_push(const fork_queue& queue, const slot* position) noexcept {
  // pairs with the sleeper's poison through its heavy fence; the next push sees a searcher's request that is missed
  // here
  return position + 1 >= queue.push_limit.load(std::memory_order_relaxed);
}
// Takes the newest entry, which is at `position`, out of the owner's queue. The entry is the owner's if needs_slow_pop
// returns false afterwards.
[[gnu::always_inline]] inline void remove_newest(fork_queue& queue, slot* position) noexcept {
  // pairs with force_steal through its heavy fence: the entry is mine. release: a thread that reads this value sees the
  // entries below
  queue.bottom.store(position, std::memory_order_release);
  // A fence for the compiler only; the thief executes the processor's fence ([force:4]).
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
[[gnu::always_inline]] inline bool needs_slow_pop(const fork_queue& queue, const slot* position) noexcept {
  // pairs with force_steal's poison through its heavy fence
  return position < queue.pop_limit.load(std::memory_order_relaxed);
}

// Stores `item`, and calls slow(queue, position) if a limit requires it.
template <class Slow>
[[gnu::always_inline]] inline ticket push_or(entry item, Slow slow) noexcept {
  fork_queue* queue = current_queue();
  if (queue == nullptr) [[unlikely]]
    return foreign_ticket;
  slot* const position = store_newest(*queue, item);
  if (needs_slow_push(*queue, position)) [[unlikely]]
    return slow(queue, position);
  return position;
}

// Offers `item` to thieves. Thread context: any.
[[gnu::always_inline]] inline ticket push(entry item) noexcept { return push_or(item, push_slow); }

// Offers the second half of a fork. The ticket is for the matching pop and, if that fails, for join_slow. The hints,
// the work of both halves and the bytes, are for policies that watch every fork. NaN and 0 mean that they are not
// known.
[[gnu::always_inline]] inline ticket push_fork(entry item, double first, double second,
                                               std::size_t bytes = 0) noexcept {
  return push_or(
      item, [&](fork_queue* queue, slot* position) { return push_fork_slow(queue, position, first, second, bytes); });
}
[[gnu::always_inline]] inline ticket push_fork(entry item) noexcept {
  return push_or(item, [](fork_queue* queue, slot* position) { return push_fork_slow(queue, position); });
}

// Takes `item` back if it is the newest entry of the current worker, which need not be the worker that pushed it.
// Returns `lost` if another thread has or will have the entry, or if it was never queued. bottom is written from the
// ticket and not from its own old value, so that forks and joins do not form one long chain of store-to-load
// forwardings through it.
template <class Slow>
[[gnu::always_inline]] inline popped pop_or(entry item, ticket position, Slow slow) noexcept {
  fork_queue* queue = current_queue();

  // relaxed: the owner's own variable
  if (queue->bottom.load(std::memory_order_relaxed) != position + 1) [[unlikely]]
    return popped::lost;
  // relaxed: only the owner writes slots
  if (position->load(std::memory_order_relaxed) != item) [[unlikely]]
    return popped::lost;
  remove_newest(*queue, position);
  if (needs_slow_pop(*queue, position)) [[unlikely]]
    return slow(queue, position);
  return popped::mine;
}
[[gnu::always_inline]] inline popped pop(entry item, ticket position) noexcept {
  return pop_or(item, position, pop_slow);
}

}  // namespace heddle::detail

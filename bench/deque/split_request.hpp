// Prototype 3: a split deque. Old entries are public (thieves), young ones private (owner, no
// fence); thieves ask for more.
//
// Words.  base: array of slots.  bottom: next free slot, written by the owner only.
//   public_: one 64-bit word {tag:32, count:12, top:20}. [top, top+count) is public, [top+count,
//   bottom) is private. guard: the owner may pop slot b without synchronisation iff b >= guard.
//   Anybody may raise it at any time; only the owner lowers it. limit: the owner's push compares
//   with it; the real overflow limit, or `base` while a thief is hungry. request: a thief is
//   hungry.
//
// Rules.
//   R1  Thieves take by CAS on public_ (top+1, count-1). They read no other word of the owner to do
//   so. R2  The owner changes guard, limit and (downwards past public entries) bottom only in slow
//   paths; every slow path ends with a
//       successful CAS on public_ that increments tag, *after* these stores.
//   R3  A thief that finds nothing public sets request, then poisons guard (= no slot) and limit (=
//   base): the owner's next pop or
//       push falls into its slow path and publishes. If it has nothing to publish it repairs guard
//       but leaves limit poisoned, so that its next push publishes at once.
//   R4  Last resort (the owner does not answer): x = public_; guard poisoned; membarrier; b =
//   bottom; if b > top+count, take the
//       oldest private slot by CAS(x -> top+1) on public_. No lock: the owner never waits, its tag
//       increment voids the attempt.
//
// Why R4 is right.  Let s = top+count in x. An owner's fast pop of s is {store bottom = s; load
// guard; guard <= s}.
//   (a) The guard it loads is from before the poison: then the load, and the store before it, come
//   before the fence that membarrier
//       ran in the owner, so the thief's load of bottom sees s or something the owner stored later.
//       If the thief saw b > s, the owner pushed s again after that pop, and the argument applies
//       to the pop of that later push.
//   (b) It is a value the owner itself stored after the poison: this is a slow path, so tag was
//   incremented before the pop (R2). If
//       before the thief's CAS, the CAS fails. If after it, the owner's CAS saw top > s and set
//       guard accordingly.
//   So when the thief's CAS succeeds, every pop of s after the push it saw goes to the slow path
//   and finds top > s.
#pragma once

#include "job.hpp"
#include "platform.hpp"
#include "steal_counters.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace deque_bench {

template <bool PublishHalf = false, bool Refill = true>
class split_request_deque {
 public:
  using slot = std::atomic<job*>;
  using ticket = slot*;
  static constexpr std::size_t capacity = std::size_t{1} << 17;
  static constexpr bool serves_long_leaves = true;
  static constexpr const char* name = PublishHalf ? "split_request_half"
                                      : Refill    ? "split_request"
                                                  : "split_request_late";

  split_request_deque() : storage_(new slot[capacity]) {
    base_ = storage_.get();
    bottom_.store(base_, std::memory_order_relaxed);            // not yet shared
    guard_.store(base_, std::memory_order_relaxed);             // not yet shared
    limit_.store(base_ + capacity, std::memory_order_relaxed);  // not yet shared
  }

  // Called by the owner. Returns the ticket for pop. It is null if the deque is full and nothing was pushed, and pop
  // will then return false.
  [[gnu::always_inline]] slot* push(job* j) noexcept {
    slot* b = bottom_.load(std::memory_order_relaxed);  // only the owner writes bottom
    b->store(j, std::memory_order_relaxed);             // pairs with last_resort and take: published by the
                                                        // next line or by owner_commit
    bottom_.store(b + 1,
                  std::memory_order_release);  // pairs with last_resort: the slot and the job
    compiler_barrier();
    // A poison that is missed here is seen at the next push or pop; the order store, barrier, load
    // makes it a Dekker pair with a sleeper that poisons limit, calls membarrier and reads bottom.
    if (b + 1 >= limit_.load(std::memory_order_relaxed)) [[unlikely]]
      return push_slow(b);
    return b;
  }

  // Called by the owner. Returns true if j was the youngest entry and is the caller's again. Returns false if it was
  // stolen (or is in another worker's deque). bottom is set from the ticket, not from its own old value. So forks and
  // joins do not form one long chain of store-to-load forwardings through bottom (two of them, 5 to 6 cycles each, in
  // every spawn), and the processor overlaps them.
  [[gnu::always_inline]] bool pop(job* j, slot* b) noexcept {
    // Is b the youngest slot of *this* worker, and still j's? Not so after a reset (stolen), after
    // a migration, or when somebody else on this worker took j or pushed above it. Both tests are
    // needed: see README.md, "The two tests of pop".
    if (bottom_.load(std::memory_order_relaxed) != b + 1) [[unlikely]]
      return false;  // only the owner writes bottom
    if (b->load(std::memory_order_relaxed) != j) [[unlikely]]
      return false;                               // only the owner writes slots
    bottom_.store(b, std::memory_order_relaxed);  // pairs with last_resort: made visible by its membarrier
    compiler_barrier();
    if (b < guard_.load(std::memory_order_relaxed)) [[unlikely]]
      return pop_slow(b);  // pairs with last_resort: membarrier
    return true;
  }

  // Called by a thief: one step, which never blocks. It takes a public job, or else asks. If the owner has not moved
  // for `patience` ticks since this thief asked, it helps itself. `mine` is the thief's memory of this victim.
  job* steal(steal_counters& n, victim_memory& mine, std::uint64_t patience) noexcept {
    const std::uint64_t x = public_.load(std::memory_order_relaxed);  // a hint; take reads it again
    if (count_of(x) != 0) return take(n);
    if (patience == 0) return last_resort(n);  // never asks: for the stress test
    if (x != mine.seen || mine.since == 0) {
      mine.seen = x;
      mine.since = ticks();
      ask(n);
      return nullptr;
    }
    if (const std::uint64_t now = ticks(); now - mine.since >= patience) {
      mine.since = now;
      return last_resort(n);
    }
    return nullptr;
  }

  void worker_started() noexcept {}
  void worker_stopped() noexcept {}

 protected:
  static constexpr std::uint64_t count_one = std::uint64_t{1} << 20;
  static constexpr std::uint32_t top_mask = (1u << 20) - 1;
  static constexpr std::uint32_t creep_max = 256;
  static constexpr std::uint32_t count_max = (1u << 12) - 1;
  static std::uint32_t top_of(std::uint64_t x) noexcept { return static_cast<std::uint32_t>(x) & top_mask; }
  static std::uint32_t count_of(std::uint64_t x) noexcept { return static_cast<std::uint32_t>(x) >> 20; }
  static std::uint64_t pack(std::uint64_t tag_from, std::uint32_t count, std::uint32_t top) noexcept {
    return (((tag_from >> 32) + 1) << 32) | (std::uint64_t{count} << 20) | top;
  }

  job* take(steal_counters& n) noexcept {
    std::uint64_t x =
        public_.load(std::memory_order_acquire);  // pairs with owner_commit: slots and jobs below top+count
    if (count_of(x) == 0) return nullptr;
    job* j =
        base_[top_of(x)].load(std::memory_order_relaxed);  // valid if the CAS succeeds: no tag increment in between
    if (public_.compare_exchange_strong(x, x + 1 - count_one, std::memory_order_seq_cst)) {
      ++n.taken;
      if (count_of(x) == 1) refill(n);
      return j;
    }
    ++n.lost;
    return nullptr;
  }

  // Asks in advance, at the steal of the last public job. Otherwise a victim that forks once more and then stays in a
  // long leaf hides that fork until the thief's last resort.
  void refill(steal_counters& n) noexcept {
    if constexpr (Refill) ask(n);
  }

  void ask(steal_counters& n) noexcept {
    // The exchange orders request before the poisons: an owner that cleared the poisons and then
    // reads request = 0 is earlier.
    if (request_.load(std::memory_order_seq_cst) || request_.exchange(true, std::memory_order_seq_cst)) return;
    ++n.requests;
    guard_.store(nowhere(), std::memory_order_seq_cst);
    limit_.store(base_, std::memory_order_seq_cst);
  }

  job* last_resort(steal_counters& n) noexcept {
    std::uint64_t x = public_.load(std::memory_order_acquire);  // pairs with owner_commit: bottom after a reset
    if (count_of(x) != 0) return take(n);
    const std::uint32_t s = top_of(x);
    if (bottom_.load(std::memory_order_relaxed) <= base_ + s) return nullptr;  // a hint that saves the membarrier
    ++n.barriers;
    guard_.store(nowhere(), std::memory_order_seq_cst);
    membarrier();
    slot* const end = bottom_.load(std::memory_order_acquire);  // pairs with push: slots and jobs; with pop: membarrier
    if (end <= base_ + s) return nullptr;
    // All that was seen becomes public at the price of one membarrier: guard lies above all of it.
    const std::uint32_t more = std::min(static_cast<std::uint32_t>(end - (base_ + s)) - 1, count_max);
    job* j = base_[s].load(std::memory_order_relaxed);  // the acquire above covers it; valid if the CAS succeeds
    if (!public_.compare_exchange_strong(x, x + 1 + more * count_one, std::memory_order_seq_cst)) {
      ++n.lost;
      return nullptr;
    }
    ++n.taken;
    ++n.last_resort_taken;
    return j;
  }

  // Owner, slow paths only: store guard and limit, then make the new public part and the tag
  // visible. Rule R2.
  bool owner_commit(std::uint64_t& seen, std::uint64_t next, bool hungry) noexcept {
    guard_.store(base_ + top_of(next) + count_of(next),
                 std::memory_order_relaxed);  // pairs with take/last_resort: by the CAS below
    limit_.store(hungry ? base_ : base_ + capacity,
                 std::memory_order_relaxed);  // pairs with ask: by the CAS below
    return public_.compare_exchange_strong(seen, next, std::memory_order_seq_cst);
  }

  // Returns how many of n private entries a request gets.
  static std::uint32_t share(std::uint32_t n, std::uint32_t count) noexcept {
    const std::uint32_t k = PublishHalf ? (n + 1) / 2 : n != 0;
    return k > count_max - count ? count_max - count : k;
  }

  // Cleared before the CAS that answers it, so that a thief which takes the answer can ask again.
  bool take_request() noexcept {
    if (!request_.load(std::memory_order_seq_cst)) return false;
    request_.store(false,
                   std::memory_order_relaxed);  // pairs with ask: made visible by the CAS in answer
    return true;
  }

  // One try to commit the state x with the private part [split, end), a share of it published if a
  // thief asked.
  bool answer(std::uint64_t& x, std::uint32_t end, bool wanted) noexcept {
    const std::uint32_t t = top_of(x), c = count_of(x);
    const std::uint32_t k = wanted ? share(end - (t + c), c) : 0;
    const bool hungry = wanted && k + c == 0;
    if (!owner_commit(x, pack(x, c + k, t), hungry)) return false;
    if (hungry) request_.store(true, std::memory_order_seq_cst);
    return true;
  }

  // A request that came during a slow path may have had its poison overwritten, so this looks again after the commit.
  // It ends when the request is answered, or hungry. In the latter case limit is poisoned, and guard need not be,
  // because nothing is private.
  void settle(std::uint32_t end) noexcept {
    while (request_.load(std::memory_order_seq_cst)) {
      std::uint64_t x = public_.load(std::memory_order_relaxed);  // the CAS in answer reads it again
      if (count_of(x) == 0 && top_of(x) == end && limit_.load(std::memory_order_relaxed) == base_)
        return;  // hungry already
      const bool wanted = take_request();
      while (!answer(x, end, wanted)) {
      }
    }
  }

  [[gnu::noinline, gnu::cold]] slot* push_slow(slot* b) noexcept {
    const slow_path inside(*this);
    if (b + 1 >= base_ + capacity) {  // full: take it back; a thief may have been quicker
      bottom_.store(b,
                    std::memory_order_relaxed);  // pairs with last_resort: by the CAS in pop_slow
      return pop_slow(b) ? nullptr : b;
    }
    std::uint64_t x = public_.load(std::memory_order_relaxed);  // the CAS in answer reads it again
    const auto end = static_cast<std::uint32_t>(b + 1 - base_);
    const bool wanted = take_request();
    while (!answer(x, end, wanted)) {
    }
    settle(end);
    return b;
  }

  [[gnu::noinline, gnu::cold]] bool pop_slow(slot* at) noexcept {
    const slow_path inside(*this);
    const auto b = static_cast<std::uint32_t>(at - base_);
    const bool wanted = take_request();
    std::uint64_t x = public_.load(std::memory_order_seq_cst);
    for (bool untouched = true;; untouched = false) {
      const std::uint32_t t = top_of(x), s = t + count_of(x);
      if (s <= b) {  // private: the guard was poisoned. Once the tag has moved, no last resort can
                     // take b.
        if (!answer(x, b, wanted)) continue;
        settle(b);
        return true;
      }
      if (t <= b) {  // public: take it back, and the younger half of what is below it, so that n
                     // public entries cost log n of these
        const std::uint32_t keep = t + (b - t + 1) / 2;
        const bool hungry = wanted && keep == t;
        if (!owner_commit(x, pack(x, keep - t, t), hungry)) continue;
        if (hungry) request_.store(true, std::memory_order_seq_cst);
        settle(b);
        return true;
      }
      // The job was stolen, and so is everything below. Usually only bottom is changed: the thief's line stays where it
      // is, and the poisons, if any, work at the next push. The first slot is not used again until the indices have
      // crept up a little. This is not done after a failed commit, because that may have overwritten a poison, and has
      // lowered guard without a new tag.
      if (b < creep_max && untouched) {
        bottom_.store(at + 1, std::memory_order_relaxed);  // pairs with last_resort: an empty deque
                                                           // looks empty before and after
        if (wanted) request_.store(true, std::memory_order_seq_cst);
        return false;
      }
      // bottom goes first, because a thief that reads the new public_ must not see the old bottom.
      bottom_.store(base_, std::memory_order_relaxed);  // pairs with last_resort: by the CAS
      if (!owner_commit(x, pack(x, 0, 0), wanted)) continue;
      if (wanted) request_.store(true, std::memory_order_seq_cst);
      settle(0);
      return false;
    }
  }
  // For a signal handler that wants to publish: it must not publish when it interrupts such a path.
  struct slow_path {
    explicit slow_path(split_request_deque& d) noexcept : deque(d), before(d.in_slow_path_) { set(true); }
    ~slow_path() { set(before); }
    slow_path(const slow_path&) = delete;
    slow_path& operator=(const slow_path&) = delete;
    void set(bool value) noexcept {
      compiler_barrier();
      deque.in_slow_path_ = value;
      compiler_barrier();
    }
    split_request_deque& deque;
    bool before;
  };
  slot* nowhere() const noexcept { return base_ + capacity + 1; }

  alignas(64) std::atomic<slot*> bottom_;
  std::atomic<slot*> guard_;
  std::atomic<slot*> limit_;
  slot* base_;
  std::unique_ptr<slot[]> storage_;
  volatile bool in_slow_path_ = false;
  alignas(64) std::atomic<std::uint64_t> public_{0};
  std::atomic<bool> request_{false};
};

}  // namespace deque_bench

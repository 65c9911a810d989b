// Prototypes 1 and 2: Chase and Lev, "Dynamic circular work-stealing deque" (SPAA 2005), in the C11
// form of Le et al. (PPoPP 2013), with a fixed capacity. The fence between the owner's store of
// bottom and its load of top is a locked operation (prototype 1) or is moved to the thief, which
// calls membarrier at every attempt on a deque that does not look empty (prototype 2).
#pragma once

#include "job.hpp"
#include "platform.hpp"
#include "steal_counters.hpp"

#include <cstddef>
#include <memory>

namespace deque_bench {

template <bool Asymmetric>
class chase_lev_deque {
 public:
  using ticket = std::int64_t;  // 0 means not queued
  static constexpr std::int64_t capacity = std::int64_t{1} << 17;
  static constexpr bool serves_long_leaves = true;
  static constexpr const char* name = Asymmetric ? "chase_lev_asym" : "chase_lev_seq";

  chase_lev_deque() : slots_(new std::atomic<job*>[capacity]) {}

  // Called by the owner.
  [[gnu::always_inline]] ticket push(job* j) noexcept {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed);  // only the owner writes bottom
    if (b >= limit_) [[unlikely]] {
      if (!make_room(b)) return 0;
    }
    slots_[b & mask].store(j, std::memory_order_relaxed);  // pairs with steal: published by the next line
    bottom_.store(b + 1, std::memory_order_release);       // pairs with steal: the slot and the job
    return b;
  }

  // Called by the owner. Returns true if j is the caller's again.
  [[gnu::always_inline]] bool pop(job* j, ticket b) noexcept {
    // Only the owner writes slots and bottom. A stale slot that matches is caught below: its index
    // is less than top.
    const std::int64_t youngest = bottom_.load(std::memory_order_relaxed) - 1;
    if (slots_[youngest & mask].load(std::memory_order_relaxed) != j) [[unlikely]]
      return false;                               // only the owner writes slots
    bottom_.store(b, std::memory_order_relaxed);  // pairs with steal: made visible by the fence of one side
    if constexpr (Asymmetric) compiler_barrier();
    else full_fence();
    const std::int64_t t = top_.load(std::memory_order_relaxed);  // pairs with steal: ordered by the fence of one side
    if (t >= b) [[unlikely]]
      return pop_last(b, t);
    return true;
  }

  // Called by a thief.
  job* steal(steal_counters& n, victim_memory&, std::uint64_t) noexcept {
    std::int64_t t = top_.load(std::memory_order_seq_cst);
    if (t >= bottom_.load(std::memory_order_relaxed)) return nullptr;  // a hint that saves the fence
    if constexpr (Asymmetric) {
      ++n.barriers;
      membarrier();
    } else {
      full_fence();
    }
    if (t >= bottom_.load(std::memory_order_acquire)) return nullptr;  // pairs with push: the slot and the job
    job* j = slots_[t & mask].load(std::memory_order_relaxed);  // valid if the CAS succeeds: top never returns to t
    if (top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst)) {
      ++n.taken;
      return j;
    }
    ++n.lost;
    return nullptr;
  }

  void worker_started() noexcept {}
  void worker_stopped() noexcept {}

 private:
  static constexpr std::int64_t mask = capacity - 1;

  [[gnu::noinline, gnu::cold]] bool make_room(std::int64_t b) noexcept {
    limit_ =
        top_.load(std::memory_order_acquire) + capacity - 1;  // pairs with steal's CAS: the thief has read its slot
    return b < limit_;
  }
  [[gnu::noinline, gnu::cold]] bool pop_last(std::int64_t b, std::int64_t t) noexcept {
    bool mine = false;
    if (t == b) mine = top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst);
    // The deque is empty in every case. This does not store b + 1, because an outer frame whose job was stolen comes
    // here with an older b.
    bottom_.store(top_.load(std::memory_order_relaxed),
                  std::memory_order_relaxed);  // pairs with steal: an old value costs an attempt
    return mine;
  }

  alignas(64) std::atomic<std::int64_t> bottom_{1};
  std::int64_t limit_ = 1 + capacity - 1;
  std::unique_ptr<std::atomic<job*>[]> slots_;
  alignas(64) std::atomic<std::int64_t> top_{1};
};

using chase_lev_seq_deque = chase_lev_deque<false>;
using chase_lev_asym_deque = chase_lev_deque<true>;

}  // namespace deque_bench

// The inline functions that group.cpp and queued_children.cpp share: which children are queued, and the end of a child.
#pragma once

#include <cstddef>
#include <cstdint>

#include <heddle/task_group.hpp>

#include "worker/worker.hpp"

namespace heddle::detail {

inline constexpr std::ptrdiff_t most_queued_by_others = 1024;

// [group:4] Called by the owner: if at least `few` children of those that it owes are in its queue no more, counts them
// with the others. Returns false if it has not done so.
[[nodiscard]] bool count_taken(group_state& group, const worker::worker& w, std::int64_t few) noexcept;
inline constexpr std::int64_t few_taken = group_state::most_queued / 4;

// [group:4] Called by the owner where the queue is full: lets its worker run some of the children on another stack. The
// caller may come back on another worker. Returns false if the worker has run nothing.
[[nodiscard]] bool let_children_run(group_state& group) noexcept;

// [group:4] Returns true if a child with a small closure goes to the queue. Otherwise it is started: where a policy or
// a trace watches children, and where enough of them are queued.
inline bool is_queued(const worker::worker& w, group_state& group) noexcept {
  if (!w.queues_children) return false;
  if (w.running == group.owner && !group.is_shared()) return group.may_owe_more() || count_taken(group, w, few_taken);
  // relaxed: the worker's own variable
  return w.bottom.load(std::memory_order_relaxed) - w.base < most_queued_by_others;
}

// True if as many of the owner's children are queued as may be.
inline bool is_full(const worker::worker& w, const group_state& group) noexcept {
  return w.queues_children && w.running == group.owner && !group.is_shared() && !group.may_owe_more();
}

// The code of a child that was taken from a queue (taken_children.cpp).
void run_taken_child(job* work) noexcept;
// Runs an entry that has no room in the queue on a thread of its own.
void run_as_thread(entry item) noexcept;

// Takes the newest entry of this worker's queue if it is at `position` and a child of the group. Else returns null.
[[nodiscard]] group_child* take_own_child(const group_state& group, ticket position) noexcept;

// Adds to the number of outstanding children. Returns the waiter that is to be woken, or null. The group may be gone
// afterwards if it is null.
[[nodiscard]] inline waiter* count(group_state& group, std::int64_t more) noexcept {
  std::int64_t before = group.outstanding.load(std::memory_order_relaxed);  // relaxed: confirmed by the exchange
  for (;;) {
    // [counted:3] The one exchange that ends a wait also takes its mark away. The group exists until we wake the
    // sleeper. Every other exchange is our last access, because the group may be gone.
    const std::int64_t sum = before + more;
    const bool ends = sum == group_state::owner_waits || sum == group_state::first_waits;
    if (!group.outstanding.compare_exchange_weak(before, ends ? 0 : sum)) continue;
    if (!ends) return nullptr;
    return sum == group_state::owner_waits ? group.sleeper : group.sharing.first;
  }
}

// Records that one counted child has ended. The group may be gone afterwards.
inline void count_end(group_state& group) noexcept {
  if (waiter* w = count(group, -1); w != nullptr) wake(*w);
}

// The following functions are in group_sharing.cpp.

// Called by the owner of a shared group: moves what it owes to `outstanding`, for good.
void settle(group_state& group) noexcept;
// Waits for a group that the caller does not own, or whose owner has settled it.
void wait_shared(group_state& group) noexcept;

// Called by the owner where a child has ended that `owed` contained. [shared:3] The look comes after the subtraction.
[[gnu::always_inline]] inline void owe_one_less(group_state& group) noexcept {
  group.owe(-1);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (group.is_shared()) [[unlikely]]
    settle(group);
}

// Returns true if a child that `self` is making counts in `owed`.
[[gnu::always_inline]] inline bool is_owed(group_state& group, const void* self) noexcept {
  if (self != group.owner) return false;
  if (group.is_shared()) [[unlikely]] {
    settle(group);
    return false;
  }
  return true;
}

[[gnu::always_inline]] inline void free_child(group_child& child) noexcept {
  fork_queue* w = current_queue();
  if (child.home != w) [[unlikely]]
    return static_cast<worker::worker*>(child.home)->children.give_back(child, child);
  child.next = w->spare_children;
  w->spare_children = &child;
}

}  // namespace heddle::detail

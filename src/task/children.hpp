// The inline functions that group.cpp and queued_children.cpp share: which children are queued, and the end of a child.
#pragma once

#include <cstddef>
#include <cstdint>

#include <heddle/task_group.hpp>

#include "worker/worker.hpp"

namespace heddle::detail {

inline constexpr std::ptrdiff_t most_queued_by_others = 1024;

// [group:4] Returns true if a child with a small closure goes to the queue. Otherwise it is started: where a policy or
// a trace watches children, and where enough of them are queued.
inline bool is_queued(const worker::worker& w, const group_state& group) noexcept {
  if (!w.queues_children) return false;
  if (w.running == group.owner) return group.owed < group.most_owed;
  // relaxed: the worker's own variable
  return w.bottom.load(std::memory_order_relaxed) - w.base < most_queued_by_others;
}

// The code of a child that was taken from a queue.
void run_taken_child(job* work) noexcept;

// Records that one counted child has ended. The group may be gone afterwards.
inline void count_end(group_state& group) noexcept {
  // [counted:3] If the result is `waiting`, the owner sleeps and the group exists until we wake it. Otherwise this was
  // our last access, because the group may be gone.
  const std::int64_t now = group.outstanding.fetch_sub(1) - 1;
  if (now != group_state::waiting) return;
  waiter* sleeper = group.sleeper;
  group.outstanding.store(0);
  wake(*sleeper);
}

[[gnu::always_inline]] inline void free_child(group_child& child) noexcept {
  fork_queue* w = current_queue();
  if (child.home != w) [[unlikely]]
    return static_cast<worker::worker*>(child.home)->children.give_back(child);
  child.next = w->spare_children;
  w->spare_children = &child;
}

}  // namespace heddle::detail

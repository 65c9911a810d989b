// Waits for a task group by threads that do not own it. Protocol and proof: groups.md, "Waits by other threads".
#include <heddle/task_group.hpp>

#include <new>
#include <utility>

#include "platform/platform.hpp"
#include "task/children.hpp"
#include "worker/preemption/section.hpp"

namespace heddle::detail {

namespace {

struct shared_wait {
  group_state* group;
  waiter_list woken{};  // to be woken after the guard
  bool is_first{false};
  bool empty{false};

  static bool enqueue(void* data, waiter& w) noexcept;
};

// [shared:1] Makes the group a shared one. When this has returned, every later look of the owner sees it.
void share(group_state& group) noexcept {
  std::int64_t now = group.most_owed.load();
  while (now >= 0) {
    if (!group.most_owed.compare_exchange_weak(now, group_state::being_shared)) continue;
    group_sharing& s = *::new (&group.sharing) group_sharing;
    s.has_first = s.settled = false;
    s.counted = 0;
    platform::heavy_fence();
    group.most_owed.store(group_state::shared);
    return;
  }
  while (group.most_owed.load() != group_state::shared) platform::yield_processor();
}

// Called under the guard, while no waiter's mark is in `outstanding`: returns the number of children, which
// `outstanding` contains from then on as far as it can be known here.
std::int64_t children_of(group_state& group) noexcept {
  group_sharing& s = group.sharing;
  if (s.settled) return group.outstanding.load();
  for (std::int64_t before = group.outstanding.load();;) {
    const std::int64_t owed = group.owed.load();
    const std::int64_t after = group.outstanding.load();
    if (after != std::exchange(before, after)) continue;  // [shared:2]
    const std::int64_t uncounted = owed - s.counted;
    if (after + uncounted != 0) {
      group.outstanding.fetch_add(uncounted);
      s.counted = owed;
    }
    return after + uncounted;
  }
}

bool shared_wait::enqueue(void* data, waiter& w) noexcept {
  auto& me = *static_cast<shared_wait*>(data);
  group_state& group = *me.group;
  group_sharing& s = group.sharing;
  s.guard.lock();
  if (std::exchange(me.is_first, false)) s.has_first = false;
  std::int64_t now = group.outstanding.load();
  // The owner sleeps, which did not know that the group is shared, or another thread is the first.
  if (s.has_first || now >= group_state::owner_waits / 2) {
    s.others.push_back(w);
    s.guard.unlock();
    return true;
  }
  while (children_of(group) != 0) {
    s.first = &w;
    now = group.outstanding.load();
    while (now > 0 && now < group_state::owner_waits / 2) {
      // The owner may add its mark at the same time: one of the two is first.
      if (!group.outstanding.compare_exchange_weak(now, now + group_state::first_waits)) continue;
      s.has_first = me.is_first = true;
      s.guard.unlock();
      return true;
    }
    if (now > 0) {
      s.others.push_back(w);
      s.guard.unlock();
      return true;
    }
    // All counted children have ended, and perhaps one that was not counted yet. The next look counts it.
  }
  me.empty = true;
  me.woken = std::exchange(s.others, waiter_list());
  s.guard.unlock();
  return false;
}

}  // namespace

void settle(group_state& group) noexcept {
  const worker::section inside;
  share(group);
  group_sharing& s = group.sharing;
  if (s.settled && group.owes() == 0) return;  // only the owner settles
  s.guard.lock();
  const std::int64_t uncounted = group.owes() - s.counted;
  group.owe(-group.owes());
  s.counted = 0;
  s.settled = true;
  waiter* const first = count(group, uncounted);
  s.guard.unlock();
  if (first != nullptr) wake(*first);
}

void wait_shared(group_state& group) noexcept {
  const worker::section inside;
  share(group);
  shared_wait me{&group};
  while (!me.empty) {
    waiter w("task group");
    suspend(w, shared_wait::enqueue, &me);
  }
  while (waiter* w = me.woken.pop_front()) wake(*w);
}

}  // namespace heddle::detail

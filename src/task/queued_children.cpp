// Children of task groups that wait in a worker's queue and have no threads yet. Protocol and proof: groups.md.
#include <heddle/task_group.hpp>

#include <algorithm>
#include <utility>

#include "arch/arch.hpp"
#include "fiber/thread.hpp"
#include "platform/platform.hpp"
#include "task/children.hpp"
#include "worker/caller.hpp"
#include "worker/inline.hpp"
#include "worker/jobs.hpp"
#include "worker/searching/queue_paths.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

// [service:4] The clock is looked at after so many children of one wait, and then as often as their length requires.
constexpr unsigned first_look = 16;

struct children_looks {
  unsigned every{first_look};
  std::uint64_t last{0};  // platform::cycles

  // As many children have ended as the last call has returned. Returns after how many more the next call is to come.
  [[gnu::noinline]] unsigned look() noexcept {
    constexpr unsigned most = 64;
    const std::uint64_t now = platform::cycles();
    const std::uint64_t bound = worker::worker::current().bound;
    if (last == 0 || now - last > bound / 4) every = std::max(every / 8, 1u);
    else if (now - last < bound / 32) every = std::min(2 * every, most);
    last = now;
    if (is_time_to_serve(now)) serve_what_waits();
    return every;
  }
};

// Returns the entry at `position`, if it is the newest of this worker's queue and a child of the group. `slow` is the
// slow path of the pop.
template <class Slow>
[[gnu::always_inline]] inline group_child* take_newest_child(const group_state& group, ticket position,
                                                             Slow slow) noexcept {
  // relaxed: only its worker writes a slot. [group:2] The thing that the entry names may have been stolen and be gone,
  // so it is looked at only after the pop.
  const entry item = position->load(std::memory_order_relaxed);
  if (item == 0 || (item & (worker::continuation_tag | worker::ready_tag)) != 0) return nullptr;
  // No trace watches it, because it may be the entry of an outer fork, which goes back.
  if (pop_or(item, position, slow) == popped::lost) return nullptr;
  auto* work = reinterpret_cast<job*>(item);
  // No thread waits for a child, so its word stays its code. The word of another job may change, but never to a child's
  // code.
  if (work->own_code() == &run_taken_child) [[likely]] {
    auto* child = static_cast<group_child*>(work);
    if (child->group == &group) return child;
  }
  // It cannot be null: the entry has just come from there, so there is room.
  if (push(item) == nullptr) run_as_thread(item);
  return nullptr;
}

}  // namespace

group_child* take_own_child(const group_state& group, ticket position) noexcept {
  return take_newest_child(group, position, pop_slow_unserved);
}

void queue_child(group_state& group, group_child& child) noexcept {
  const bool counted = !is_owed(group, worker::worker::current().running);
  child.group = &group;
  child.counted = counted;
  if (counted) group.outstanding.fetch_add(1);
  else group.owe(1);
  const ticket position = push_child(child);
  if (position == nullptr) [[unlikely]]
    start_unqueued(child);
  if (!counted) group.newest = position;
}

void run_as_thread(entry item) noexcept {
  worker::worker& w = worker::worker::current();
  w.make_ready(*w.thread_for(item));
}

void start_unqueued(group_child& child) noexcept { run_as_thread(entry_of(&child)); }

bool count_taken(group_state& group, const worker::worker& w, std::int64_t few) noexcept {
  constexpr std::ptrdiff_t most_used = 1 << 16;  // half a MiB of slots
  const std::int64_t taken = group.owes() - queue::size(w);
  // relaxed: the worker's own variable
  if (taken < few || w.bottom.load(std::memory_order_relaxed) - w.base > most_used) return false;
  group.outstanding.fetch_add(taken);
  group.owe(-taken);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!group.is_shared()) [[likely]]
    return true;
  settle(group);
  return false;
}

bool let_children_run(group_state& group) noexcept {
  worker::worker& w = worker::worker::current();
  fiber::thread& self = *w.current_thread();
  // relaxed: a reason that is missed is seen at the next pick
  if (w.picks_specially.load(std::memory_order_relaxed) != 0 || self.ties.belongs.is_pinned()) return false;
  if (w.by->exceptions->any() || !w.blocks.has_block()) return false;
  fiber::thread* const next = w.thread_for(w.take_newest());
  if (next == nullptr) return false;
  constexpr auto after = [](void* t, void*) { worker::worker::current().requeue(*static_cast<fiber::thread*>(t)); };
  w.switch_to(self, *next, after, &self, nullptr);
  static_cast<void>(count_taken(group, worker::worker::current(), 1));
  return true;
}

void run_children(group_state& group) noexcept {
  if (!worker::caller::now().queue().queues_children) return;  // nor are the children of a preemptive thread
  void* const above = static_cast<fiber::thread*>(group.owner)->stack->stack_memory.children_above;
  if (group.runs_child || arch::stack_pointer() < above) return;
  group.runs_child = true;
  children_looks looks;
  unsigned until_look = first_look;
  while (group.owes() != 0 && group.newest != nullptr) {
    group_child* child = take_newest_child(group, group.newest, pop_child_slow);
    if (child == nullptr) {
      group.newest = nullptr;  // the other children are not here
      break;
    }
    --group.newest;
    const bool counted = std::exchange(child->counted, false);
    child->call(child->room);
    free_child(*child);
    if (counted) [[unlikely]]
      count_end(group);
    else owe_one_less(group);
    if (--until_look == 0) [[unlikely]]
      until_look = looks.look();
  }
  group.runs_child = false;
}

}  // namespace heddle::detail

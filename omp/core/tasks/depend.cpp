#include "omp/core/tasks/depend.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>

#include "omp/core/tasks/depend_graph.hpp"
#include "omp/core/tasks/taskwait.hpp"

namespace heddle::omp {

namespace {

bool take_locks(depend_node& n) noexcept {
  for (const lock_link* l = n.locks; l != nullptr; l = l->next)
    if (l->what->taken) return false;
  for (const lock_link* l = n.locks; l != nullptr; l = l->next) l->what->taken = true;
  return true;
}

// Called when all predecessors have ended. Returns false if a task runs that the node's task excludes; the thread that
// ends that task calls this again.
bool may_begin(depend_node& n) noexcept {
  if (n.locks == nullptr) return true;
  dependences& g = *n.graph;
  const std::lock_guard hold(g.guard);
  if (take_locks(n)) return true;
  n.next_blocked = nullptr;
  (g.last_blocked != nullptr ? g.last_blocked->next_blocked : g.first_blocked) = &n;
  g.last_blocked = &n;
  return false;
}

// Returns the tasks that waited for exactly these locks, linked by explicit_task::next, because a node may go once its
// task runs.
explicit_task* give_back_locks(depend_node& n) noexcept {
  dependences& g = *n.graph;
  const std::lock_guard hold(g.guard);
  for (const lock_link* l = n.locks; l != nullptr; l = l->next) l->what->taken = false;
  explicit_task* ready = nullptr;
  depend_node* kept = nullptr;
  for (depend_node** link = &g.first_blocked; *link != nullptr;) {
    depend_node* const b = *link;
    if (take_locks(*b)) {
      *link = b->next_blocked;
      b->of->next = ready;
      ready = b->of;
    } else {
      kept = b;
      link = &b->next_blocked;
    }
  }
  g.last_blocked = kept;
  return ready;
}

void queue_ready(const thread* self, member_tasks* mine, explicit_task& it) noexcept {
  team_tasks& tasks = it.in->tasks;
  if (self == nullptr || mine == nullptr || !tasks.push(*mine, it)) tasks.share(it);
}

// As team_tasks::push, of one without a priority.
bool push_ready(member_tasks& mine, explicit_task& it, const task& parent) noexcept {
  if (placing::on()) [[unlikely]]
    return it.in->tasks.push(mine, it);
  return it.in->tasks.push_usual(mine, it, parent);
}

void make_ready(const thread* self, member_tasks* mine, explicit_task& it) noexcept {
  if (thread* const waits = it.node->waits; waits != nullptr) [[unlikely]] {
    it.node->begins.store(true);  // the node belongs to that thread from here on
    waits->parker.wake();
    return;
  }
  queue_ready(self, mine, it);
}

dependences& graph_of(task& parent) {
  if (parent.depends == nullptr) {
    parent.depends = new dependences;
    if (parent.is_explicit) static_cast<explicit_task&>(parent).make_intricate();
  }
  return *parent.depends;
}

// `waits` is the thread that runs the task itself as soon as it is ready; if it is null, the task is queued then.
bool enter_all(thread& self, explicit_task& it, const depend_list& list, thread* waits) {
  dependences& g = graph_of(*self.running);
  depend_node& n = *new_node(g);
  n.of = &it;
  n.waits = waits;
  n.special = waits != nullptr || it.priority > 0;
  it.node = &n;
  it.make_intricate();
  enter(g, list, n);
  return follow_predecessors(n) && may_begin(n);
}

}  // namespace

bool add_node(thread& self, explicit_task& it, const depend_list& list) { return enter_all(self, it, list, nullptr); }

void add_node_and_wait(thread& self, explicit_task& it, const depend_list& list) {
  task& parent = *self.running;
  if (enter_all(self, it, list, &self)) return;
  help_until(self, &parent, [&] { return it.node->begins.load(); }, [] {});
}

depend_edge* successors_of(const explicit_task& it) noexcept {
  static_assert(offsetof(depend_node, successors) == 0 && sizeof(depend_node::successors) == sizeof(void*));
  static_assert(offsetof(depend_edge, to) == 0 && offsetof(depend_edge, next) == sizeof(void*));
  static_assert(offsetof(depend_node, held) == 64);
  // acquire pairs with end_node, as in has_ended
  depend_edge* const first = it.node != nullptr ? it.node->successors.load(std::memory_order_acquire) : nullptr;
  return first != closed_list() ? first : nullptr;
}

void end_node(thread* self, member_tasks* mine, explicit_task& it) noexcept {
  depend_node& n = *it.node;
  explicit_task* ready = n.special && n.locks != nullptr ? give_back_locks(n) : nullptr;
  // The node belongs to the parent afterwards. acq_rel pairs with follow: makes the edges visible; and with has_ended:
  // publishes what the task has done.
  depend_edge* e = n.successors.exchange(closed_list(), std::memory_order_acq_rel);
  while (e != nullptr) {
    depend_node& to = *e->to;
    // This comes before the successor may begin, because the edge is the successor's.
    e = e->next;
    prefetch_to_write(e);
    explicit_task* const next = to.of;
    if (!to.special) [[likely]] {
      // [depend:2] The thread that has the last edge need not count it. acquire pairs with the others' counting: makes
      // visible what they have done.
      if (to.waiting.load(std::memory_order_acquire) != 1 && to.waiting.fetch_sub(1) != 1) continue;
      prefetch_task(next);
      // The parent stays: it has not heard of this end.
      if (mine == nullptr || !push_ready(*mine, *next, *it.parent)) it.in->tasks.share(*next);
      continue;
    }
    thread* const waits = to.waits;
    if (to.waiting.fetch_sub(1) != 1) continue;
    if (next == nullptr) waits->parker.wake_after_fence();
    else if (may_begin(to)) make_ready(self, mine, *next);
  }
  while (ready != nullptr) {
    explicit_task& next = *ready;
    ready = ready->next;
    make_ready(self, mine, next);
  }
}

void wait_for_predecessors(thread& self, const depend_list& list) {
  task& parent = *self.running;
  if (parent.depends == nullptr || parent.unfinished() == 0) return;
  dependences& g = *parent.depends;
  depend_node n;
  n.waits = &self;
  n.special = true;
  n.serial = ++g.serial;
  for (std::size_t i = 0; i < list.count; ++i) look_at(g, list[i], n);
  if (!follow_predecessors(n)) help_until(self, &parent, [&] { return n.waiting.load() == 0; }, [] {});
  drop_edges(g, n);
}

void stay_near(thread& self, task& parent) {
  dependences& g = *parent.depends;
  if (parent.made <= g.may_make) [[likely]]
    return;
  const std::int32_t unfinished = parent.unfinished();
  // The number is more than are made until the next look, so the excess shrinks.
  std::int32_t more = unfinished > most_ahead ? 2 * looks_each : 0;
  while (more > 0 && run_one(self, &parent)) --more;
  // At least that many more may be made, whichever thread ends some; or a few too many, so that the count is not read
  // for each task.
  g.may_make = parent.made + std::max(most_ahead - unfinished, looks_each);
}

void forget_dependences(task& of) noexcept {
  dependences& g = *of.depends;
  // `made` is 0, or begins there soon.
  g.may_make = most_ahead;
  if (g.locations.used() == 0 && g.everything == nullptr) return;
  g.locations.clear();
  g.everything = nullptr;
  g.nodes.put_all();
  g.edges.put_all();
  g.links.put_all();
  g.exclusions.put_all();
  g.locks.put_all();
  g.leaving = nullptr;
  g.leaving_count = 0;
}

void drop_dependences(task& of) noexcept {
  delete of.depends;
  of.depends = nullptr;
}

}  // namespace heddle::omp

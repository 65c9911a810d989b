#include "omp/core/depend.hpp"

#include <cstddef>
#include <mutex>
#include <new>

#include "omp/core/depend_graph.hpp"
#include "omp/core/taskwait.hpp"
#include "omp/ompt/tasks.hpp"

namespace heddle::omp {

namespace {

depend_edge* const closed = reinterpret_cast<depend_edge*>(std::uintptr_t{1});

bool has_ended(const depend_node& n) noexcept {
  return n.successors.load(std::memory_order_acquire) == closed;  // pairs with end_node: what the task has done
}

// --- memory of nodes, [depend:3] ---------------------------------------------------------------------------------

void drop_node(dependences& g, depend_node* n) noexcept {
  for (depend_edge* e = n->edges; e != nullptr;) {
    depend_edge* const gone = e;
    e = e->sibling;
    g.edges.put(gone);
  }
  for (lock_link* l = n->locks; l != nullptr;) {
    lock_link* const gone = l;
    l = l->next;
    g.locks.put(gone);
  }
  g.nodes.put(n);
}

// Membership of a set ends.
void drop_link(dependences& g, set_link* link) noexcept {
  depend_node* const n = link->node;
  g.links.put(link);
  if (--n->held != 0) return;
  if (has_ended(*n)) {
    drop_node(g, n);
    return;
  }
  n->next = g.leaving;
  g.leaving = n;
  ++g.leaving_count;
}

void drop_links(dependences& g, set_link* first) noexcept {
  while (first != nullptr) {
    set_link* const gone = first;
    first = first->next;
    drop_link(g, gone);
  }
}

depend_node* new_node(dependences& g) {
  if (g.leaving_count >= g.look_at) {
    depend_node** place = &g.leaving;
    while (*place != nullptr) {
      depend_node* const n = *place;
      if (!has_ended(*n)) {
        place = &n->next;
        continue;
      }
      *place = n->next;
      --g.leaving_count;
      drop_node(g, n);
    }
    g.look_at = 64 + 2 * g.leaving_count;  // so that looking costs little for each node
  }
  auto* const n = new (g.nodes.take()) depend_node;
  n->graph = &g;
  n->serial = ++g.serial;
  return n;
}

// --- places
// -----------------------------------------------------------------------------------------------------------

// Neighbours in memory are neighbours in the table, since clauses that follow each other name such ones as a rule: what
// lies in one cache line goes to one group of 16 entries, each line in an order of its own.
std::size_t hash(const void* address) noexcept {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t line = (a >> 6) * 0x9e3779b97f4a7c15u;
  return (line >> 24 << 4) | (((a >> 2) ^ (line >> 20)) & 15);
}

place_entry& entry_for(std::vector<place_entry>& table, std::uint32_t epoch, const void* address) noexcept {
  std::size_t i = hash(address) & (table.size() - 1);
  while (table[i].epoch == epoch && table[i].address != address) i = (i + 1) & (table.size() - 1);
  return table[i];
}

depend_place& place_for(dependences& g, const void* address) {
  place_entry* e = &entry_for(g.table, g.epoch, address);
  if (e->epoch == g.epoch) return *e->place;
  if (4 * (g.used_entries + 1) > 3 * g.table.size()) {
    std::vector<place_entry> more(2 * g.table.size());
    for (const place_entry& old : g.table)
      if (old.epoch == g.epoch) entry_for(more, g.epoch, old.address) = old;
    g.table.swap(more);
    e = &entry_for(g.table, g.epoch, address);
  }
  auto* const p = new (g.places.take()) depend_place;
  *e = {address, p, g.epoch};
  ++g.used_entries;
  if (g.everything != nullptr && !has_ended(*g.everything)) {
    p->kind = depend_kind::out;
    p->first = p->last = new (g.links.take()) set_link{g.everything, nullptr};
    ++g.everything->held;
  }
  return *p;
}

// --- edges
// ------------------------------------------------------------------------------------------------------------

// Who waits for whom. Returns how many predecessors were added.
std::int32_t follow(dependences& g, depend_node& before, depend_node& after) {
  if (&before == &after || before.newest == after.serial || has_ended(before)) return 0;
  // Read before the edge is there: if the edge can be made, the task had not ended.
  const bool told = ompt::on() && before.of != nullptr && after.of != nullptr;
  const ompt_data_t data = told ? before.of->tool.data : ompt_data_t{};
  depend_edge* const e = g.edges.take();
  e->to = &after;
  e->sibling = after.edges;
  after.edges = e;  // also when it turns out not to be needed: it goes with the others
  depend_edge* seen = before.successors.load(std::memory_order_acquire);  // pairs with end_node, as in has_ended
  do {
    if (seen == closed) return 0;
    e->next = seen;
  } while (!before.successors.compare_exchange_weak(seen, e, std::memory_order_acq_rel));  // pairs with end_node: e
  before.newest = after.serial;
  if (told) [[unlikely]]
    ompt::found_predecessor(data, *after.of);
  return 1;
}

std::int32_t follow_all(dependences& g, const set_link* set, depend_node& after) {
  std::int32_t count = 0;
  for (; set != nullptr; set = set->next) count += follow(g, *set->node, after);
  return count;
}

// --- sets
// -------------------------------------------------------------------------------------------------------------

bool joins(const depend_place& p, depend_kind kind) noexcept {
  return p.first != nullptr && p.kind == kind && kind != depend_kind::out;
}

std::int32_t look_at_place(dependences& g, const depend_place& p, depend_kind kind, depend_node& n) {
  return follow_all(g, joins(p, kind) ? p.before : p.first, n);
}

void enter_place(dependences& g, depend_place& p, depend_kind kind, depend_node& n) {
  set_link* const link = new (g.links.take()) set_link{&n, nullptr};
  ++n.held;  // first: it may be in the set that is dropped
  if (!joins(p, kind)) {
    drop_links(g, p.before);
    p.before = p.first;
    p.first = p.last = nullptr;
    p.kind = kind;
    p.excludes = kind == depend_kind::mutexinoutset ? new (g.exclusions.take()) exclusion{false} : nullptr;
  } else if (p.first->node != &n && has_ended(*p.first->node)) {  // sets of readers do not grow without an end
    set_link* const gone = p.first;
    p.first = gone->next;
    if (p.first == nullptr) p.last = nullptr;
    drop_link(g, gone);
  }
  (p.last != nullptr ? p.last->next : p.first) = link;
  p.last = link;
  if (p.excludes == nullptr) return;
  for (const lock_link* l = n.locks; l != nullptr; l = l->next)
    if (l->what == p.excludes) return;
  n.locks = new (g.locks.take()) lock_link{p.excludes, n.locks};
}

std::int32_t look_at_everything(dependences& g, depend_node& n) {
  std::int32_t count = 0;
  for (const place_entry& e : g.table)
    if (e.epoch == g.epoch) count += follow_all(g, e.place->first, n);
  if (g.everything != nullptr) count += follow(g, *g.everything, n);
  return count;
}

void enter_everything(dependences& g, depend_node& n) {
  ++n.held;  // first: it may be in some of the sets that are dropped
  for (const place_entry& e : g.table) {
    if (e.epoch != g.epoch) continue;
    drop_links(g, e.place->before);
    drop_links(g, e.place->first);
    g.places.put(e.place);
  }
  ++g.epoch;
  g.used_entries = 0;
  if (g.everything != nullptr) drop_link(g, new (g.links.take()) set_link{g.everything, nullptr});
  g.everything = &n;
}

// --- exclusion
// --------------------------------------------------------------------------------------------------------

bool take_locks(depend_node& n) noexcept {
  for (const lock_link* l = n.locks; l != nullptr; l = l->next)
    if (l->what->taken) return false;
  for (const lock_link* l = n.locks; l != nullptr; l = l->next) l->what->taken = true;
  return true;
}

// All predecessors have ended. False: a task that it excludes runs; who ends that one comes back to this.
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

// What waited for exactly these; linked by explicit_task::next, since a node may go once its task runs.
explicit_task* give_back_locks(depend_node& n) noexcept {
  dependences& g = *n.graph;
  const std::lock_guard hold(g.guard);
  for (const lock_link* l = n.locks; l != nullptr; l = l->next) l->what->taken = false;
  explicit_task* ready = nullptr;
  depend_node* kept = nullptr;
  for (depend_node** place = &g.first_blocked; *place != nullptr;) {
    depend_node* const b = *place;
    if (take_locks(*b)) {
      *place = b->next_blocked;
      b->of->next = ready;
      ready = b->of;
    } else {
      kept = b;
      place = &b->next_blocked;
    }
  }
  g.last_blocked = kept;
  return ready;
}

void make_ready(thread* self, member_tasks* mine, explicit_task& it) noexcept {
  team_tasks& tasks = it.in->tasks;
  if (self == nullptr || mine == nullptr || !tasks.push(*mine, it)) tasks.share(it);
}

dependences& graph_of(task& parent) {
  if (parent.depends == nullptr) parent.depends = new dependences;
  return *parent.depends;
}

}  // namespace

bool add_node(thread& self, explicit_task& it, const depend_list& list) {
  dependences& g = graph_of(*self.running);
  depend_node& n = *new_node(g);
  n.of = &it;
  it.node = &n;
  std::int32_t before = 0;
  for (std::size_t i = 0; i < list.count; ++i) {
    const depend_item item = list[i];
    if (item.address == nullptr) {
      before += look_at_everything(g, n);
      enter_everything(g, n);
      continue;
    }
    depend_place& p = place_for(g, item.address);
    before += look_at_place(g, p, item.kind, n);
    enter_place(g, p, item.kind, n);
  }
  // [depend:2]
  if (before != 0 && n.waiting.fetch_add(before) + before != 0) return false;
  return may_begin(n);
}

depend_edge* successors_of(const explicit_task& it) noexcept {
  static_assert(offsetof(depend_node, successors) == 0 && sizeof(depend_node::successors) == sizeof(void*));
  static_assert(offsetof(depend_edge, to) == 0 && offsetof(depend_edge, next) == sizeof(void*));
  // acquire pairs with end_node, as in has_ended
  depend_edge* const first = it.node != nullptr ? it.node->successors.load(std::memory_order_acquire) : nullptr;
  return first != closed ? first : nullptr;
}

void end_node(thread* self, member_tasks* mine, explicit_task& it) noexcept {
  depend_node& n = *it.node;
  explicit_task* ready = n.locks != nullptr ? give_back_locks(n) : nullptr;
  // The node is the parent's afterwards. acq_rel pairs with follow: the edges; with has_ended: what the task has done.
  depend_edge* e = n.successors.exchange(closed, std::memory_order_acq_rel);
  while (e != nullptr) {
    depend_node& to = *e->to;
    e = e->next;  // before the successor may begin: the edge is its
    explicit_task* const next = to.of;
    thread* const waits = to.waits;
    if (to.waiting.fetch_sub(1) != 1) continue;
    if (next == nullptr) waits->parked.wake_after_fence();
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
  n.serial = ++g.serial;
  std::int32_t before = 0;
  for (std::size_t i = 0; i < list.count; ++i) {
    const depend_item item = list[i];
    if (item.address == nullptr) {
      before += look_at_everything(g, n);
      continue;
    }
    depend_place& p = place_for(g, item.address);
    if (item.kind == depend_kind::mutexinoutset) {
      before += follow_all(g, p.first, n) + follow_all(g, p.before, n);
    } else {
      before += look_at_place(g, p, item.kind, n);
    }
  }
  if (before != 0 && n.waiting.fetch_add(before) + before != 0) {
    help_until(self, &parent, [&] { return n.waiting.load() == 0; }, [] {});
  }
  for (depend_edge* e = n.edges; e != nullptr;) {
    depend_edge* const gone = e;
    e = e->sibling;
    g.edges.put(gone);
  }
}

void forget_dependences(task& of) noexcept {
  dependences& g = *of.depends;
  if (g.used_entries == 0 && g.everything == nullptr) return;
  ++g.epoch;
  g.used_entries = 0;
  g.everything = nullptr;
  g.places.put_all();
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

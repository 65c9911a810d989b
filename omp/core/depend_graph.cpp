#include "omp/core/depend_graph.hpp"

#include <bit>
#include <new>

#include "omp/ompt/tasks.hpp"

namespace heddle::omp {

namespace {

// Memory of nodes: [depend:3].

void drop_node(dependences& g, depend_node* n) noexcept {
  drop_edges(g, *n);
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

// Neighbours in memory are neighbours in the table, since clauses that follow each other name such ones as a rule: what
// lies in one cache line goes to one group of 16 entries, each line in an order of its own. The upper bits of the
// product choose the group: those of lines at equal distances, as arrays have them, are spread evenly, so that groups
// which an array fills seldom meet (Fibonacci hashing: Knuth, volume 3, section 6.4).
place_entry& entry_for(std::vector<place_entry>& table, std::uint32_t epoch, const void* address) noexcept {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const std::uint64_t line = (std::uint64_t{a} >> 6) * 0x9e3779b97f4a7c15u;
  const std::size_t size = table.size();  // a power of two, 32 at least
  std::size_t i = line >> (std::countl_zero(std::uint64_t{size}) + 5) << 4 | (((a >> 2) ^ (line >> 20)) & 15);
  while (table[i].epoch == epoch && table[i].address != address) i = (i + 1) & (size - 1);
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
    if (seen == closed_list()) return 0;
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

}  // namespace

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

std::int32_t enter(dependences& g, const depend_item& item, depend_node& n) {
  if (item.address == nullptr) {
    const std::int32_t before = look_at_everything(g, n);
    enter_everything(g, n);
    return before;
  }
  depend_place& p = place_for(g, item.address);
  const std::int32_t before = look_at_place(g, p, item.kind, n);
  enter_place(g, p, item.kind, n);
  return before;
}

std::int32_t look_at(dependences& g, const depend_item& item, depend_node& n) {
  if (item.address == nullptr) return look_at_everything(g, n);
  depend_place& p = place_for(g, item.address);
  if (item.kind != depend_kind::mutexinoutset) return look_at_place(g, p, item.kind, n);
  return follow_all(g, p.first, n) + follow_all(g, p.before, n);
}

void drop_edges(dependences& g, depend_node& n) noexcept {
  for (depend_edge* e = n.edges; e != nullptr;) {
    depend_edge* const gone = e;
    e = e->sibling;
    g.edges.put(gone);
  }
}

}  // namespace heddle::omp

#include "omp/core/depend_graph.hpp"

#include <bit>
#include <iterator>
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
depend_place& entry_for(std::vector<depend_place>& table, std::uint32_t epoch, const void* address) noexcept {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const std::uint64_t line = (std::uint64_t{a} >> 6) * 0x9e3779b97f4a7c15u;
  const std::size_t size = table.size();  // a power of two, 32 at least
  std::size_t i = line >> (std::countl_zero(std::uint64_t{size}) + 5) << 4 | (((a >> 2) ^ (line >> 20)) & 15);
  while (table[i].epoch == epoch && table[i].address != address) i = (i + 1) & (size - 1);
  return table[i];
}

// Good until the next call.
depend_place& place_for(dependences& g, const void* address) {
  depend_place* p = &entry_for(g.table, g.epoch, address);
  if (p->epoch == g.epoch) return *p;
  if (4 * (g.used_places + 1) > 3 * g.table.size()) {
    std::vector<depend_place> more(2 * g.table.size());
    for (const depend_place& old : g.table)
      if (old.epoch == g.epoch) entry_for(more, g.epoch, old.address) = old;
    g.table.swap(more);
    p = &entry_for(g.table, g.epoch, address);
  }
  set_link* const everything = g.everything != nullptr && !has_ended(*g.everything)
                                   ? new (g.links.take()) set_link{g.everything, nullptr}
                                   : nullptr;
  if (everything != nullptr) ++g.everything->held;
  *p = {address, g.epoch, depend_kind::out, everything, everything, nullptr, nullptr};
  ++g.used_places;
  return *p;
}

depend_edge& new_edge(dependences& g, depend_node& n) {
  if (n.edges < std::size(n.first_edges)) return n.first_edges[n.edges++];
  auto* const e = g.edges.take();
  e->sibling = n.further;
  n.further = e;
  ++n.edges;
  return *e;
}

// Who waits for whom.
void follow(dependences& g, depend_node& before, depend_node& after) {
  if (&before == &after || before.newest == after.serial || has_ended(before)) return;
  new_edge(g, after).to = &before;
  before.newest = after.serial;
}

// [depend:2] False: the predecessor has ended.
bool put_into_list(depend_edge& e, depend_node& after) noexcept {
  depend_node& before = *e.to;
  // Read before the edge is there: if it can be put there, the task had not ended.
  const bool told = ompt::on() && before.of != nullptr && after.of != nullptr;
  const ompt_data_t data = told ? before.of->tool.data : ompt_data_t{};
  e.to = &after;
  depend_edge* seen = before.successors.load(std::memory_order_acquire);  // pairs with end_node, as in has_ended
  do {
    if (seen == closed_list()) return false;
    e.next = seen;
    // pairs with end_node: the edge, and the number of all
  } while (!before.successors.compare_exchange_weak(seen, &e, std::memory_order_acq_rel, std::memory_order_acquire));
  if (told) [[unlikely]]
    ompt::found_predecessor(data, *after.of);
  return true;
}

void follow_all(dependences& g, const set_link* set, depend_node& after) {
  for (; set != nullptr; set = set->next) follow(g, *set->node, after);
}

bool joins(const depend_place& p, depend_kind kind) noexcept {
  return p.first != nullptr && p.kind == kind && kind != depend_kind::out;
}

void look_at_place(dependences& g, const depend_place& p, depend_kind kind, depend_node& n) {
  follow_all(g, joins(p, kind) ? p.before : p.first, n);
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
  n.special = true;
}

void look_at_everything(dependences& g, depend_node& n) {
  for (const depend_place& p : g.table)
    if (p.epoch == g.epoch) follow_all(g, p.first, n);
  if (g.everything != nullptr) follow(g, *g.everything, n);
}

void enter_everything(dependences& g, depend_node& n) {
  ++n.held;  // first: it may be in some of the sets that are dropped
  for (const depend_place& p : g.table) {
    if (p.epoch != g.epoch) continue;
    drop_links(g, p.before);
    drop_links(g, p.first);
  }
  ++g.epoch;
  g.used_places = 0;
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

void enter(dependences& g, const depend_item& item, depend_node& n) {
  if (item.address == nullptr) {
    look_at_everything(g, n);
    enter_everything(g, n);
    return;
  }
  depend_place& p = place_for(g, item.address);
  look_at_place(g, p, item.kind, n);
  enter_place(g, p, item.kind, n);
}

void look_at(dependences& g, const depend_item& item, depend_node& n) {
  if (item.address == nullptr) return look_at_everything(g, n);
  depend_place& p = place_for(g, item.address);
  if (item.kind != depend_kind::mutexinoutset) return look_at_place(g, p, item.kind, n);
  follow_all(g, p.first, n);
  follow_all(g, p.before, n);
}

bool follow_predecessors(depend_node& n) noexcept {
  if (n.edges == 0) return true;
  // A tool hears of all predecessors before the task begins.
  std::int32_t ended = ompt::on() ? 1 : 0;
  n.waiting.store(static_cast<std::int32_t>(n.edges) + ended, std::memory_order_relaxed);  // published with each edge
  // The node may have ended when the last edge is in its list; its members here are this thread's, and stay.
  for (std::uint32_t i = 0; i < n.edges && i < std::size(n.first_edges); ++i)
    if (!put_into_list(n.first_edges[i], n)) ++ended;
  for (further_edge* e = n.further; e != nullptr; e = e->sibling)
    if (!put_into_list(*e, n)) ++ended;
  return ended != 0 && n.waiting.fetch_sub(ended) == ended;
}

void drop_edges(dependences& g, depend_node& n) noexcept {
  for (further_edge* e = n.further; e != nullptr;) {
    further_edge* const gone = e;
    e = e->sibling;
    g.edges.put(gone);
  }
}

}  // namespace heddle::omp

#include "omp/core/tasks/depend_graph.hpp"

#include <iterator>
#include <new>
#include <utility>

#include "omp/core/tasks/task_block.hpp"
#include "omp/ompt/tasks.hpp"

namespace heddle::omp {

namespace {

// The memory of nodes: [depend:3].

void release(dependences& g, exclusion* it) noexcept {
  if (it != nullptr && --it->users == 0) g.exclusions.put(it);
}

void drop_node(dependences& g, depend_node* n) noexcept {
  drop_edges(g, *n);
  for (lock_link* l = n->locks; l != nullptr;) {
    lock_link* const gone = l;
    l = l->next;
    release(g, gone->what);
    g.locks.put(gone);
  }
  g.nodes.put(n);
}

// Ends the membership of a set.
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

void drop_location(dependences& g, const depend_location& p) noexcept {
  drop_links(g, p.before);
  drop_links(g, p.first);
  release(g, p.excludes);
}

bool all_have_ended(const set_link* set) noexcept {
  while (set != nullptr && has_ended(*set->node)) set = set->next;
  return set == nullptr;
}

// [depend:4] The entries of a location do not matter any more when all tasks have ended that it knows. All tasks of the
// current set wait for all tasks of the set before.
[[gnu::noinline]] void make_room(dependences& g) {
  g.locations.sweep([&](depend_location& p) {
    if (!all_have_ended(p.first) || (p.first == nullptr && !all_have_ended(p.before))) return false;
    drop_location(g, p);
    return true;
  });
}

// The reference is valid until the next call.
[[gnu::always_inline]] inline depend_location& location_for(dependences& g, const void* address) {
  depend_location* p = &g.locations.entry_for(address);
  if (g.locations.is_used(*p)) return *p;
  if (g.locations.is_full()) [[unlikely]] {
    make_room(g);
    p = &g.locations.entry_for(address);
  }
  set_link* everything = nullptr;
  if (g.everything != nullptr && !has_ended(*g.everything)) [[unlikely]] {
    everything = new (g.links.take()) set_link{g.everything, nullptr};
    ++g.everything->held;
  }
  g.locations.add(*p, address);
  p->first = p->last = everything;
  return *p;
}

[[gnu::noinline]] depend_edge& new_further_edge(dependences& g, depend_node& n) {
  auto* const e = g.edges.take();
  e->sibling = n.further;
  n.further = e;
  ++n.edges;
  return *e;
}

// Makes `after` wait for `before`. Returns false if the predecessor has ended.
[[gnu::always_inline]] inline bool follow(dependences& g, depend_node& before, depend_node& after) {
  if (before.newest == after.serial || &before == &after) return true;
  // The list of successors; its line is fetched once, for writing, not first for reading.
  prefetch_to_write(&before);
  if (has_ended(before)) return false;
  depend_edge& e =
      after.edges < std::size(after.first_edges) ? after.first_edges[after.edges++] : new_further_edge(g, after);
  e.to = &before;
  before.newest = after.serial;
  return true;
}

// Returns false if all have ended.
[[gnu::always_inline]] inline bool follow_all(dependences& g, const set_link* set, depend_node& after) {
  bool any = false;
  for (; set != nullptr; set = set->next) any |= follow(g, *set->node, after);
  return any;
}

// [depend:2] Returns false if the predecessor has ended.
[[gnu::always_inline]] inline bool put_into_list(depend_edge& e, depend_node& after) noexcept {
  depend_node& before = *e.to;
  e.to = &after;
  depend_edge* seen = before.successors.load(std::memory_order_acquire);  // pairs with end_node, as in has_ended
  do {
    if (seen == closed_list()) return false;
    e.next = seen;
    // pairs with end_node: publishes the edge, and the number of all edges
  } while (!before.successors.compare_exchange_weak(seen, &e, std::memory_order_acq_rel, std::memory_order_acquire));
  return true;
}

// The same if a tool may listen.
bool put_into_list_and_tell(depend_edge& e, depend_node& after) noexcept {
  // Read before the edge is there. If the edge can be put there, the task had not ended.
  const depend_node& before = *e.to;
  const bool told = ompt::on() && before.of != nullptr && after.of != nullptr;
  const ompt_data_t data = told ? before.of->tool.data : ompt_data_t{};
  if (!put_into_list(e, after)) return false;
  if (told) ompt::found_predecessor(data, *after.of);
  return true;
}

// Returns the number of predecessors that have ended.
template <class Put>
std::int32_t put_edges(depend_node& n, Put put) noexcept {
  std::int32_t ended = 0;
  // The node's task may have ended when the last edge is in its list. The node's members used here are this thread's,
  // and stay.
  for (std::uint32_t i = 0; i < n.edges && i < std::size(n.first_edges); ++i) ended += put(n.first_edges[i], n) ? 0 : 1;
  for (further_edge* e = n.further; e != nullptr; e = e->sibling) ended += put(*e, n) ? 0 : 1;
  return ended;
}

bool joins(const depend_location& p, depend_kind kind) noexcept {
  return p.kind == kind && kind != depend_kind::out && p.first != nullptr;
}

void exclude(dependences& g, const depend_location& p, depend_node& n) {
  for (const lock_link* l = n.locks; l != nullptr; l = l->next)
    if (l->what == p.excludes) return;
  n.locks = new (g.locks.take()) lock_link{p.excludes, n.locks};
  ++p.excludes->users;
  n.special = true;
}

[[gnu::always_inline]] inline void enter_location(dependences& g, depend_location& p, depend_kind kind,
                                                  depend_node& n) {
  if (joins(p, kind)) {
    follow_all(g, p.before, n);
    set_link* const link = new (g.links.take()) set_link{&n, nullptr};
    ++n.held;
    set_link* const oldest = p.first;
    p.last->next = link;
    p.last = link;
    if (oldest->next != link && oldest->node != &n && has_ended(*oldest->node)) {
      p.first = oldest->next;  // this keeps sets of readers from growing without an end
      drop_link(g, oldest);
    }
  } else {
    const bool any = follow_all(g, p.first, n);
    set_link* const link = new (g.links.take()) set_link{&n, nullptr};
    ++n.held;  // first, because it may be in the sets that are dropped
    drop_links(g, p.before);
    p.before = p.first;
    if (!any) {
      drop_links(g, p.before);
      p.before = nullptr;
    }
    p.first = p.last = link;
    p.kind = kind;
    if (p.excludes != nullptr) [[unlikely]]
      release(g, std::exchange(p.excludes, nullptr));
    if (kind == depend_kind::mutexinoutset) [[unlikely]]
      p.excludes = new (g.exclusions.take()) exclusion{false, 1};
  }
  if (p.excludes != nullptr) [[unlikely]]
    exclude(g, p, n);
}

void look_at_everything(dependences& g, depend_node& n) {
  g.locations.for_each([&](const depend_location& p) { follow_all(g, p.first, n); });
  if (g.everything != nullptr) follow(g, *g.everything, n);
}

void enter_everything(dependences& g, depend_node& n) {
  ++n.held;  // first, because it may be in some of the sets that are dropped
  g.locations.for_each([&](const depend_location& p) { drop_location(g, p); });
  g.locations.clear();
  if (g.everything != nullptr) drop_link(g, new (g.links.take()) set_link{g.everything, nullptr});
  g.everything = &n;
}

}  // namespace

depend_node* new_node(dependences& g) {
  if (g.leaving_count >= g.look_at) {
    depend_node** link = &g.leaving;
    while (*link != nullptr) {
      depend_node* const n = *link;
      if (!has_ended(*n)) {
        link = &n->next;
        continue;
      }
      *link = n->next;
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

void enter(dependences& g, const depend_list& list, depend_node& n) {
  for (std::size_t i = 0; i < list.count; ++i) {
    const depend_item item = list[i];
    if (item.address == nullptr) [[unlikely]] {
      look_at_everything(g, n);
      enter_everything(g, n);
    } else {
      enter_location(g, location_for(g, item.address), item.kind, n);
    }
  }
}

void look_at(dependences& g, const depend_item& item, depend_node& n) {
  if (item.address == nullptr) return look_at_everything(g, n);
  const depend_location& p = g.locations.entry_for(item.address);
  if (!g.locations.is_used(p)) {
    if (g.everything != nullptr) follow(g, *g.everything, n);
    return;
  }
  if (item.kind != depend_kind::mutexinoutset) {
    follow_all(g, joins(p, item.kind) ? p.before : p.first, n);
    return;
  }
  follow_all(g, p.first, n);
  follow_all(g, p.before, n);
}

bool follow_predecessors(depend_node& n) noexcept {
  if (n.edges == 0) return true;
  const auto edges = static_cast<std::int32_t>(n.edges);
  std::int32_t ended = 0;
  if (ompt::may_be_on()) [[unlikely]] {
    // A tool hears of all predecessors before the task begins.
    n.waiting.store(edges + 1, std::memory_order_relaxed);  // relaxed: published with each edge, as below
    ended = 1 + put_edges(n, put_into_list_and_tell);
  } else {
    n.waiting.store(edges, std::memory_order_relaxed);
    ended = put_edges(n, [](depend_edge& e, depend_node& after) { return put_into_list(e, after); });
  }
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

#include "policy/sockets/task_tree.hpp"

#include <mutex>

namespace heddle::policy {

void task_tree::start(scheduler& host) {
  own_.reset(new own_nodes[host.workers()]);
  sites_.reset(new tree_site[most_sites]);
  for (unsigned i = 0; i < most_sites; ++i) sites_[i].number = i;
}

// --- nodes -------------------------------------------------------------------------------------------------------

tier_node* task_tree::fresh(unsigned self, tree_site& s, tier_node* parent) noexcept {
  tier_node* n = nodes_.take(own_[self].free);
  if (n == nullptr) return nullptr;
  n->parent = parent;
  n->first_child = n->last_child = n->sibling = nullptr;
  n->had = n->made = 0;
  n->ran_on = nobody;
  n->soid = n->below = 0;
  n->known = n->cut = n->saved = n->mark = false;
  if (parent != nullptr) {
    (parent->last_child != nullptr ? parent->last_child->sibling : parent->first_child) = n;
    parent->last_child = n;
  }
  s.nodes.fetch_add(1, std::memory_order_relaxed);  // relaxed: a bound, see has_room
  return n;
}

void task_tree::enter(tier_node& n, std::uint32_t pass) noexcept {
  n.cursor = n.first_child;
  n.had = n.made;
  n.made = 0;
  n.pass = pass;
  n.misses = n.instructions = 0;
  n.bytes = 0;
  n.misses_from = source::none;
  n.measured = n.counted = n.inlined = false;
  n.taken.store(true, std::memory_order_relaxed);  // relaxed: published with the task
}

bool task_tree::reserve(unsigned self, unsigned nodes) noexcept {
  tier_node* taken = nullptr;
  unsigned got = 0;
  for (; got < nodes; ++got) {
    tier_node* n = nodes_.take(own_[self].free);
    if (n == nullptr) break;
    n->sibling = taken;
    taken = n;
  }
  while (taken != nullptr) {
    tier_node* n = taken;
    taken = n->sibling;
    nodes_.give(own_[self].free, *n);
  }
  return got == nodes;
}

tier_node* task_tree::next_child(unsigned self, tree_site& s, tier_node& parent) noexcept {
  tier_node* n = parent.cursor;
  // acquire pairs with leave: makes visible what the child's task of an earlier iteration wrote
  while (n != nullptr && n->taken.load(std::memory_order_acquire)) n = n->sibling;
  parent.cursor = n != nullptr ? n->sibling : nullptr;
  if (n == nullptr) n = fresh(self, s, &parent);
  if (n == nullptr) return nullptr;
  enter(*n, parent.pass);
  ++parent.made;
  return n;
}

void task_tree::drop_below(unsigned self, tree_site& s, tier_node& top) noexcept {
  tier_node* n = top.first_child;
  top.first_child = top.last_child = nullptr;
  while (n != nullptr) {  // a node's children come before its siblings
    tier_node* next = n->sibling;
    if (n->first_child != nullptr) {
      n->last_child->sibling = next;
      next = n->first_child;
    }
    nodes_.give(own_[self].free, *n);
    s.nodes.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a bound, see has_room
    n = next;
  }
}

// --- sites -------------------------------------------------------------------------------------------------------

tree_site* task_tree::begin(unsigned self, const void* label) noexcept {
  std::lock_guard hold(lock_);
  tree_site* found = nullptr;
  for (unsigned i = 0; i < most_sites && found == nullptr; ++i) {
    tree_site& s = sites_[i];
    // relaxed: under lock_
    if (s.root != nullptr && s.label == label && !s.taken.load(std::memory_order_relaxed)) found = &s;
  }
  for (unsigned i = 0; i < most_sites && found == nullptr; ++i) {
    tree_site& s = sites_[next_];
    next_ = (next_ + 1) % most_sites;
    // relaxed: under lock_; acquire pairs with bi_tier::task_end: its last task has left its node
    if (s.taken.load(std::memory_order_relaxed) || s.alive.load(std::memory_order_acquire) != 0) continue;
    if (s.root != nullptr) drop_below(self, s, *s.root);
    else if (s.root = fresh(self, s, nullptr); s.root == nullptr) return nullptr;
    s.root->made = 0;
    s.root->ran_on = nobody;
    s.root->soid = 0;
    s.root->known = s.root->cut = s.root->saved = false;
    s.label = label;
    s.passes = 0;
    found = &s;
  }
  if (found == nullptr) return nullptr;
  found->taken.store(true, std::memory_order_relaxed);  // relaxed: under lock_
  found->elapsed = 0;
  tier_node& root = *found->root;
  enter(root, found->passes);
  root.share = root.width = 1;
  root.level = 1;
  root.range = {};
  root.ranged = true;
  root.inlined = true;
  return found;
}

void task_tree::end(tree_site& s) noexcept {
  leave(*s.root);
  std::lock_guard hold(lock_);
  ++s.passes;
  s.taken.store(false, std::memory_order_relaxed);  // relaxed: under lock_
}

// --- between iterations ------------------------------------------------------------------------------------------

// A task's counts include all that ran in its thread, also the first halves of its forks. So its own counts and its
// tasks' sums are the whole. A first half has no counts of its own; it is taken to be as large as its second half, in
// proportion to their shares.
bool task_tree::sum_up(unsigned self, tree_site& s, double line) noexcept {
  bool all = true;
  walk(s.root, [&](tier_node& n) {
    tier_node* last = nullptr;
    for (tier_node* c = n.first_child; c != nullptr;) {
      tier_node* const next = c->sibling;
      if (c->pass == n.pass) {
        last = c;
      } else {
        (last != nullptr ? last->sibling : n.first_child) = next;
        if (n.last_child == c) n.last_child = last;
        drop_below(self, s, *c);
        nodes_.give(own_[self].free, *c);
        s.nodes.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a bound, see has_room
      }
      c = next;
    }
    all = all && (n.inlined || n.measured);
    return true;
  });
  walk_up(s.root, [&](tier_node& n) {
    n.below = 0;
    n.soid = 0;
    tier_node* first = nullptr;  // the first half of a fork
    for (tier_node* c = n.first_child; c != nullptr; c = c->sibling) {
      if (first != nullptr && all && c->share > 0) first->soid = c->soid * first->share / c->share;
      first = c->inlined ? c : nullptr;
      n.below += c->inlined ? c->below : c->soid;
    }
    if (!n.inlined && all) n.soid = static_cast<double>(n.misses) * line + n.below;
    if (&n != s.root || !all) return;
    for (tier_node* c = n.first_child; c != nullptr; c = c->sibling) n.soid += c->soid;
  });
  return all;
}

unsigned task_tree::cut_finer(tree_site& s) noexcept {
  unsigned moved = 0;
  walk(s.root, [&](tier_node& n) {
    if (!n.cut) return true;
    if (n.first_child != nullptr) {
      n.cut = false;
      for (tier_node* c = n.first_child; c != nullptr; c = c->sibling) c->cut = true;
      ++moved;
    }
    return false;
  });
  return moved;
}

void task_tree::save_cut(tree_site& s) noexcept {
  walk(s.root, [](tier_node& n) { return n.saved = n.cut, true; });
}

void task_tree::restore_cut(tree_site& s) noexcept {
  walk(s.root, [](tier_node& n) { return n.cut = n.saved, true; });
}

unsigned task_tree::roots(tree_site& s) noexcept {
  unsigned count = 0;
  walk(s.root, [&](tier_node& n) {
    count += n.cut ? 1 : 0;
    return !n.cut;
  });
  return count;
}

}  // namespace heddle::policy

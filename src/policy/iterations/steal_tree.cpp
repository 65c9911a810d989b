#include "policy/iterations/steal_tree.hpp"

namespace heddle::policy {

// splitmix64's finalizer (Vigna 2016).
std::uint64_t child_identity(std::uint64_t parent, std::uint32_t n) noexcept {
  std::uint64_t x = parent + (std::uint64_t{n} + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return x != 0 ? x : 1;
}

void steal_node::keep() noexcept {
  // relaxed: read after the joins of all descendants. If another walk has marked a node, that walk goes on to the root
  // itself.
  for (steal_node* n = this; n != nullptr && !n->inner.load(std::memory_order_relaxed); n = n->parent) {
    n->inner.store(true, std::memory_order_relaxed);  // relaxed as above
  }
}

// --- the table ---------------------------------------------------------------------------------------------------

void steal_tree::clear() noexcept {
  slots_.clear();
  of_worker_.clear();
  size_ = pieces_ = 0;
}

steal_node* steal_tree::build(steal_node& root, unsigned workers) noexcept {
  clear();
  root_worker_ = root.worker;
  // The tree is flattened in place: a node's children are put behind the last one.
  steal_node* last = &root;
  root.sibling = nullptr;
  std::size_t count = 0;
  for (steal_node* n = &root; n != nullptr; n = n->sibling) {
    if (n->first_child == nullptr) continue;
    last->sibling = n->first_child;
    while (last->sibling != nullptr) {
      last = last->sibling;
      ++count;
    }
  }
  try {
    std::size_t slots = 16;
    while (slots < 2 * count) slots *= 2;
    slots_.resize(slots);
    of_worker_.resize(workers);
  } catch (...) {
    clear();
    return &root;
  }
  for (const steal_node* n = root.sibling; n != nullptr; n = n->sibling) {
    if (n->worker == nobody) continue;  // it never began
    std::size_t i = n->id & (slots_.size() - 1);
    while (slots_[i].id != 0 && slots_[i].id != n->id) i = (i + 1) & (slots_.size() - 1);
    if (slots_[i].id != 0) continue;
    const bool piece = n->is_piece();
    // relaxed: all tasks have been joined
    slots_[i] = {n->id, n->worker, n->order, piece, n->inner.load(std::memory_order_relaxed)};
    ++size_;
    if (!piece) continue;
    ++pieces_;
    ++of_worker_[n->worker];
  }
  return &root;
}

const steal_tree::line* steal_tree::find(std::uint64_t id) const noexcept {
  if (slots_.empty()) return nullptr;
  for (std::size_t i = id & (slots_.size() - 1); slots_[i].id != 0; i = (i + 1) & (slots_.size() - 1)) {
    if (slots_[i].id == id) return &slots_[i];
  }
  return nullptr;
}

std::size_t steal_tree::shared_with(const steal_tree& before) const noexcept {
  std::size_t n = 0;
  for (const line& l : slots_) {
    if (!l.piece) continue;
    const line* old = before.find(l.id);
    n += old != nullptr && old->piece && old->worker == l.worker ? 1 : 0;
  }
  return n;
}

}  // namespace heddle::policy

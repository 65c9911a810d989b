// The steal tree of an iteration: which tasks began on another worker than the task that made them, and where. While
// the iteration runs it is a tree of nodes. Subtrees that stayed on one worker as a whole are dropped as soon as
// they have ended. Between iterations it is a table by the tasks' identities.
//
// Source: Lifflander, Krishnamoorthy, Kale, "Steal tree" (PLDI 2013). Deviation: a task is known by the hash of its
// path, and not by level and step within a working phase, so its identity does not depend on what was stolen.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <heddle/detail/spin_word.hpp>

#include <heddle/policy.hpp>
#include "platform/page_allocator.hpp"
#include "policy/paged_nodes.hpp"

namespace heddle::policy {

// The identity of the n-th child that a task makes, counting forks and spawns together. It is never 0.
std::uint64_t child_identity(std::uint64_t parent, std::uint32_t n) noexcept;
inline constexpr std::uint64_t root_identity = 1;

struct steal_node {
  std::uint64_t id;
  steal_node* parent;
  steal_node* first_child;  // newest first; only the task's thread adds
  steal_node* sibling;      // also links free nodes
  std::uint32_t worker;     // the worker where it began; nobody if it has not begun
  std::uint32_t order;      // for a piece: the number of pieces that began on its worker before it
  // Set if a descendant is a piece, or may outlive its parent. Written by any descendant. Read at the task's end, after
  // the joins of its descendants, and by other descendants on their way up.
  std::atomic<bool> inner;

  bool is_piece() const noexcept { return parent != nullptr && worker != parent->worker; }
  // Called if the table is to name this task, its children and its ancestors. They are kept beyond their ends.
  void keep() noexcept;
};

// The nodes of one runtime.
using steal_nodes = paged_nodes<steal_node, &steal_node::sibling>;

// The part of an iteration that is kept. Built between iterations, read while one runs.
class steal_tree {
 public:
  struct line {
    std::uint64_t id{0};
    std::uint32_t worker{0};
    std::uint32_t order{0};
    bool piece{false};  // whether it began on another worker than its parent
    bool inner{false};  // whether a descendant did; its children have lines of their own
  };

  // Makes the table of the nodes below `root`. Returns all nodes, `root` first, as a chain through `sibling`; the
  // caller gives them back. Throws nothing: without memory the table is empty.
  steal_node* build(steal_node& root, unsigned workers) noexcept;
  const line* find(std::uint64_t id) const noexcept;

  std::size_t size() const noexcept { return size_; }
  std::size_t pieces() const noexcept { return pieces_; }
  unsigned pieces_of(unsigned worker) const noexcept { return worker < of_worker_.size() ? of_worker_[worker] : 0; }
  unsigned root_worker() const noexcept { return root_worker_; }
  // The number of pieces that are pieces of the same worker in `before`, too.
  std::size_t shared_with(const steal_tree& before) const noexcept;

 private:
  void clear() noexcept;

  template <class T>
  using table = std::vector<T, platform::page_allocator<T>>;

  table<line> slots_;  // Open addressing; the size is a power of two, and at most half is full. id 0 means empty.
  std::size_t size_{0};
  std::size_t pieces_{0};
  table<unsigned> of_worker_;
  unsigned root_worker_{nobody};
};

}  // namespace heddle::policy

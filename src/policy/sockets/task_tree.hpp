// The tree of a program's tasks, which CAB and LAWS keep from one iteration to the next. It has a node for each task
// and for each first half of a fork, which runs in its owner's thread. The i-th task or half that a task makes in an
// iteration gets the i-th child of the task's node: that is a task's identity across iterations. A component; bi_tier
// says which tasks get nodes, and the policies what is written into them.
//
// Source: Chen, Guo (2017), sections 3.4.2 and 4.6. Deviation: the book names a task by a string, "S_i" for the i-th
// child of S, and looks it up in a hash table. Here a task has a pointer to its node, which leads to its children's.
//
// A node belongs to one task at a time (`taken`). Only that task makes children of the node; the node's contents are
// published with the task. Between iterations the whole tree belongs to the site's root.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <heddle/policy.hpp>
#include "policy/paged_nodes.hpp"
#include "policy/sockets/tier_partition.hpp"

namespace heddle::policy {

struct tier_node {
  tier_node* parent;
  tier_node* first_child;
  tier_node* last_child;
  tier_node* sibling;  // the next one; also links free nodes
  tier_node* cursor;   // the next child in this iteration
  double share;        // its share of its parent's data
  // The size of involved data as the program declares it, or as its share tells; 0 if not known.
  double bytes;
  double soid;                 // the same as measured, Eq. 3.6; 0 if not known
  double below;                // for the first half of a fork: the sum of the measurements of the tasks that it made
  std::uint64_t misses;        // for the task itself: lines that its core's caches did not have
  std::uint64_t instructions;  // for the task itself
  data_range range;            // Eq. 4.5; set by bi_tier
  double width;                // the number of tasks of its level, if all of them branch as its ancestors do
  std::uint32_t level;         // the root has 1
  std::uint32_t pass;          // the iteration in which it was last used
  std::uint32_t made;          // children made so far
  std::uint32_t had;           // children in the iteration before
  std::uint32_t ran_on;        // the socket that last took it; nobody if none did
  std::atomic<bool> taken;     // whether a task that is alive has it
  bool inlined;                // whether it is the first half of a fork
  bool ranged;                 // whether its range is told by numbers of children, up to the root
  source misses_from;          // the source of the misses
  bool measured;               // whether misses are known
  bool counted;                // whether instructions are known, too
  bool known;                  // whether a cut has been decided with it in the tree
  bool cut;                    // whether it is a leaf inter-socket task, a CF root
  bool saved;                  // whether it was one in the best cut so far
  bool mark;                   // used while cuts are changed
};

// A place in the program where iterations begin.
struct tree_site {
  const void* label{nullptr};
  unsigned number{0};       // its number in the tree's table; it indexes the data that policies keep of it
  std::uint32_t passes{0};  // iterations that have ended; 0 means that nothing is known
  tier_node* root{nullptr};
  std::uint64_t elapsed{0};             // ns, of this iteration
  std::atomic<bool> taken{false};       // whether an iteration runs
  std::atomic<std::uint32_t> alive{0};  // tasks alive, without the root
  std::atomic<std::uint32_t> nodes{0};
};

class task_tree {
 public:
  static constexpr unsigned most_sites = 64;
  static constexpr std::uint32_t most_nodes = 1u << 16;  // for one site

  void start(scheduler& host);

  // Begins an iteration. Returns the site of that label which no iteration has, with its root node entered. Returns
  // null if all places are taken, or if there is no memory.
  tree_site* begin(unsigned self, const void* label) noexcept;
  void end(tree_site& s) noexcept;

  // Ensures that so many calls of next_child on this worker find memory.
  bool reserve(unsigned self, unsigned nodes) noexcept;
  bool has_room(const tree_site& s) const noexcept {
    return s.nodes.load(std::memory_order_relaxed) < most_nodes;  // a bound, not exact
  }
  // The node of the next child of this node's task. Returns null if there is no memory. A child of an earlier iteration
  // that is still alive keeps its node, and the node is passed over.
  tier_node* next_child(unsigned self, tree_site& s, tier_node& parent) noexcept;
  static void leave(tier_node& n) noexcept {
    n.taken.store(false, std::memory_order_release);  // pairs with next_child: publishes what its task wrote
  }

  // --- between iterations, by the site's root, while no task of it is alive ---

  // Drops nodes that the last iteration did not use, and sums up the measurements (Eq. 3.6, 4.6). Returns false if a
  // task lacks its figures; nothing is known of any task then.
  bool sum_up(unsigned self, tree_site& s, double line) noexcept;
  // Cuts the tree at the first node on each path that fits into `cache` (or whose size is not known) and for which
  // `allowed(node)` holds, or at the end of the path. Returns the number of roots of subtrees.
  template <class Size, class Allowed>
  unsigned cut(tree_site& s, double cache, Size&& size, Allowed&& allowed) noexcept;

  // Algorithm 6: replaces all roots by their children, or by their parents, if these exist and, for parents, if
  // `allowed` holds. Returns how many were replaced.
  static unsigned cut_finer(tree_site& s) noexcept;
  template <class Allowed>
  static unsigned cut_coarser(tree_site& s, Allowed&& allowed) noexcept;
  static void save_cut(tree_site& s) noexcept;
  static void restore_cut(tree_site& s) noexcept;
  static unsigned roots(tree_site& s) noexcept;

  // Visits parents first, and not the nodes below one for which visit(node) returns false. It does not recurse, because
  // trees may be deep.
  template <class Visit>
  static void walk(tier_node* root, Visit&& visit) noexcept {
    for (tier_node* n = root; n != nullptr;) {
      if (visit(*n) && n->first_child != nullptr) {
        n = n->first_child;
        continue;
      }
      while (n != root && n->sibling == nullptr) n = n->parent;
      n = n == root ? nullptr : n->sibling;
    }
  }
  // Visits children first.
  template <class Visit>
  static void walk_up(tier_node* root, Visit&& visit) noexcept {
    const auto deepest = [](tier_node* n) {
      while (n->first_child != nullptr) n = n->first_child;
      return n;
    };
    for (tier_node* n = root == nullptr ? nullptr : deepest(root); n != nullptr;) {
      tier_node* const next = n == root ? nullptr : n->sibling != nullptr ? deepest(n->sibling) : n->parent;
      visit(*n);
      n = next;
    }
  }

 private:
  struct alignas(64) own_nodes {
    tier_node* free{nullptr};
  };
  static void enter(tier_node& n, std::uint32_t pass) noexcept;
  tier_node* fresh(unsigned self, tree_site& s, tier_node* parent) noexcept;
  void drop_below(unsigned self, tree_site& s, tier_node& top) noexcept;

  paged_nodes<tier_node, &tier_node::sibling> nodes_;
  std::unique_ptr<own_nodes[]> own_;  // by rank
  detail::spin_word lock_;
  std::unique_ptr<tree_site[]> sites_;  // labels, and which sites are taken, are under lock_
  unsigned next_{0};                    // the next site to be reused; under lock_
};

template <class Size, class Allowed>
unsigned task_tree::cut(tree_site& s, double cache, Size&& size, Allowed&& allowed) noexcept {
  unsigned count = 0;
  walk(s.root, [&](tier_node& n) {
    n.known = true;
    n.cut = false;
    n.ran_on = nobody;  // the measured iteration had no schedule that is worth keeping
    return true;
  });
  walk(s.root, [&](tier_node& n) {
    const bool fits = cache <= 0 || size(n) <= cache;
    n.cut = n.first_child == nullptr || (fits && allowed(n));
    count += n.cut ? 1 : 0;
    return !n.cut;
  });
  return count;
}

template <class Allowed>
unsigned task_tree::cut_coarser(tree_site& s, Allowed&& allowed) noexcept {
  unsigned moved = 0;
  walk(s.root, [&](tier_node& n) {
    if (!n.cut) return true;
    const bool up = n.parent != nullptr && allowed(*n.parent);
    (up ? n.parent : &n)->mark = true;
    moved += up ? 1 : 0;
    return false;
  });
  walk(s.root, [](tier_node& n) {  // A marked node becomes a root, and no node below a root is one.
    if (!n.mark) return true;
    walk(&n, [](tier_node& below) { return below.cut = below.mark = false, true; });
    n.cut = true;
    return false;
  });
  return moved;
}

}  // namespace heddle::policy

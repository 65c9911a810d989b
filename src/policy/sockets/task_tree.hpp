// The tree of a program's tasks, as CAB and LAWS keep it from one iteration to the next: a node for each task and for
// each first half of a fork, which runs in its owner's thread. The i-th that a task makes in an iteration gets the i-th
// child of the task's node: that is a task's identity across iterations. A component; bi_tier says which tasks get
// nodes, the policies what is written into them.
//
// Source: Chen, Guo (2017), sections 3.4.2 and 4.6. Deviation: the book names a task by a string, "S_i" for the i-th
// child of S, and looks it up in a hash table. Here a task has a pointer to its node, which leads to its children's.
//
// A node belongs to one task at a time (`taken`), which alone makes children of it; what it holds is published with the
// task. Between iterations the whole tree belongs to the site's root.
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
  tier_node* sibling;          // the next one; also links free nodes
  tier_node* cursor;           // the child that is next in this iteration
  double share;                // of its parent's data
  double bytes;                // size of involved data as the program declares it, or as its share tells; 0: not known
  double soid;                 // the same as measured, Eq. 3.6; 0: not known
  double below;                // of the first half of a fork: what the tasks that it made have measured
  std::uint64_t misses;        // of the task's own: lines that its core's caches did not have
  std::uint64_t instructions;  // its own
  data_range range;            // Eq. 4.5; set by bi_tier
  double width;                // tasks of its level, if all of them branch as its ancestors do
  std::uint32_t level;         // 1: the root
  std::uint32_t pass;          // the iteration in which it was last used
  std::uint32_t made;          // children so far
  std::uint32_t had;           // children in the iteration before
  std::uint32_t ran_on;        // the socket that last took it; nobody
  std::atomic<bool> taken;     // by a task that is alive
  bool inlined;                // the first half of a fork
  bool ranged;                 // its range is told by numbers of children, up to the root
  source misses_from;          // where the misses are known from
  bool measured;               // misses are known
  bool counted;                // and instructions
  bool known;                  // a cut has been decided with it in the tree
  bool cut;                    // a leaf inter-socket task, a CF root
  bool saved;                  // was one in the best cut so far
  bool mark;                   // while cuts are changed
};

// A place in the program where iterations begin.
struct tree_site {
  const void* label{nullptr};
  unsigned number{0};       // in the tree's table, for what policies keep of it
  std::uint32_t passes{0};  // iterations that have ended; 0: nothing is known
  tier_node* root{nullptr};
  std::uint64_t elapsed{0};             // ns, of this iteration
  std::atomic<bool> taken{false};       // an iteration runs
  std::atomic<std::uint32_t> alive{0};  // tasks but the root
  std::atomic<std::uint32_t> nodes{0};
};

class task_tree {
 public:
  static constexpr unsigned most_sites = 64;
  static constexpr std::uint32_t most_nodes = 1u << 16;  // of a site

  void start(scheduler& host);

  // Begins an iteration: the site of that label which no iteration has, with its root node entered; null: all places
  // are taken, or there is no memory.
  tree_site* begin(unsigned self, const void* label) noexcept;
  void end(tree_site& s) noexcept;

  // So many calls of next_child on this worker will find memory.
  bool reserve(unsigned self, unsigned nodes) noexcept;
  bool has_room(const tree_site& s) const noexcept {
    return s.nodes.load(std::memory_order_relaxed) < most_nodes;  // a bound, not exact
  }
  // The node of the next child of this node's task. Null: no memory. A child of an earlier iteration that is still
  // alive keeps its node, and is passed over.
  tier_node* next_child(unsigned self, tree_site& s, tier_node& parent) noexcept;
  static void leave(tier_node& n) noexcept {
    n.taken.store(false, std::memory_order_release);  // pairs with next_child: what its task wrote
  }

  // --- between iterations, by the site's root, while no task of it is alive ---

  // Drops nodes that the last iteration did not use, and sums up what was measured (Eq. 3.6, 4.6). False: a task
  // lacks its figures, and nothing is known of any.
  bool sum_up(unsigned self, tree_site& s, double line) noexcept;
  // Cuts the tree where a node fits into `cache` (or no size is known) and `allowed(node)`, at the first such node on
  // each path or at its end. Returns how many roots of subtrees there are.
  template <class Size, class Allowed>
  unsigned cut(tree_site& s, double cache, Size&& size, Allowed&& allowed) noexcept;

  // Algorithm 6: all roots replaced by their children, or by their parents, where these exist (and, of parents, where
  // `allowed`). Returns how many were.
  static unsigned cut_finer(tree_site& s) noexcept;
  template <class Allowed>
  static unsigned cut_coarser(tree_site& s, Allowed&& allowed) noexcept;
  static void save_cut(tree_site& s) noexcept;
  static void restore_cut(tree_site& s) noexcept;
  static unsigned roots(tree_site& s) noexcept;

  // Parents first; where visit(node) answers false, not what is below. Without recursion: trees may be deep.
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
  // Children first.
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
  std::unique_ptr<tree_site[]> sites_;  // labels and who has taken them: under lock_
  unsigned next_{0};                    // to be reused; under lock_
};

template <class Size, class Allowed>
unsigned task_tree::cut(tree_site& s, double cache, Size&& size, Allowed&& allowed) noexcept {
  unsigned count = 0;
  walk(s.root, [&](tier_node& n) {
    n.known = true;
    n.cut = false;
    n.ran_on = nobody;  // what was measured was no schedule to keep
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
  walk(s.root, [](tier_node& n) {  // what is marked becomes a root, and nothing below a root is one
    if (!n.mark) return true;
    walk(&n, [](tier_node& below) { return below.cut = below.mark = false, true; });
    n.cut = true;
    return false;
  });
  return moved;
}

}  // namespace heddle::policy

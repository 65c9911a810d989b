// The data with which almost deterministic work stealing lays tasks out: distribution ranges, and the tree of the
// groups that were laid out. From the tree idle workers learn whose work they may take. Introduction: adws.md. Source:
// the ADWS thesis, sections 4.3.2 and 4.3.3; docs/papers.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include <heddle/detail/spin_word.hpp>

#include <heddle/policy.hpp>

namespace heddle::policy {

inline constexpr double rounding = 1e-6;
inline constexpr double near_enough = 1.0 / 64;  // A fraction of a member's share; ours.

// An interval of the number line of members: member i is [i, i + 1).
struct distribution_range {
  double from;
  double to;

  unsigned owner() const noexcept { return static_cast<unsigned>(from); }
  // Whether the range lies across several members, or reaches a member's end: Algorithm 4.2, line 4.
  bool is_search_root() const noexcept { return std::floor(from) != std::floor(to); }
  // Whether a split gives something to another member than the owner.
  bool spans_members() const noexcept { return std::floor(from) + 1 < to; }
  // The last member that has a part of the range.
  unsigned last() const noexcept { return std::max(owner(), static_cast<unsigned>(std::max(std::ceil(to), 1.0)) - 1); }
  bool covers_last() const noexcept { return to >= last() + 1.0; }

  // Splits the upper part off and returns it: `share` of the whole, in [0, 1]; Algorithm 4.2, line 11. A cut that
  // misses the end of a member by rounding alone is put there; otherwise that member would own a task of no length. A
  // cut that misses an end inside the range by less than `near_enough` is put there, too; otherwise the border between
  // two members would be sought down to the leaves.
  distribution_range split_upper(double share) noexcept { return split_at(to - (to - from) * share); }
  // The same for a cut that has been chosen already.
  distribution_range split_at(double cut) noexcept {
    const double nearest = std::round(cut);
    const bool inside = from < nearest && nearest < to;
    if (std::abs(cut - nearest) < (inside ? near_enough : rounding)) cut = nearest;
    cut = std::clamp(cut, from, to);
    const distribution_range upper{cut, to};
    to = cut;
    return upper;
  }
};

// The data that a task carries. Its node in the tree is task::tag.
struct laid_out {
  distribution_range range;
  double left;           // work of the present group that is not given to a child yet; NaN if not known
  double bytes;          // bytes that the task touches, as far as hints tell; 0 if not known
  std::uint32_t domain;  // the domain on whose number line the range lies
  std::uint32_t base;    // for a task on its way back from a group: station::base of its worker before the group
};
inline constexpr std::uint32_t unchanged = ~0u;

inline laid_out& layout_of(task& t) noexcept { return t.get<laid_out>(); }

struct tree_node;

// The node that the tag of a task that is laid out names: that of the innermost group that it has begun, else that of
// the group whose child it is.
inline tree_node& node_of(const task& t) noexcept { return *static_cast<tree_node*>(t.tag); }

// The place of an owner at the moment when its group began, or when it left the layout for a while.
struct kept_place {
  laid_out at;
  tree_node* tag;  // its tag at that moment
  unsigned back;   // the member where it goes on afterwards
};

// A group of a search-root task. A node that is never active is the place of a task that has left the layout for a
// while (layout::set_aside). Thieves read the first part at any time, also of nodes that are free again. They may then
// see the wrong range, but never memory that is gone. A freed node keeps its parent, so a walk that begins at one of
// its descendants goes on [adws:4].
struct alignas(64) tree_node {
  // Written by the group's owner, read by thieves as hints. `active` is seq_cst, and a worker reads it again after the
  // fence before it sleeps.
  std::atomic<double> from{0}, to{0};
  std::atomic<std::uint32_t> domain{0};
  std::atomic<bool> active{false};
  // The number of times that the node was opened: a thief's choice holds for one use [adws:7].
  std::atomic<std::uint32_t> uses{0};
  std::atomic<tree_node*> parent{nullptr};

  // For the owner alone.
  kept_place before{};  // the place that the owner gets back
  task* owner{nullptr};
  const void* label{nullptr};  // the label of the group's first child, or of the fork's second half
  unsigned opener{0};          // the worker that began the group
  unsigned base{0};            // the opener's station::base when the group began
  unsigned expected{0};        // number of children, if hints do not tell it
  double hinted{0};            // sum of the children's hints
  bool unlike{false};  // For a fork: whether its halves are of unlike work. Used by the policy that holds the layout.
  bool waits{false};   // the owner is at its wait
  unsigned home{0};    // the worker whose free list it belongs to
  tree_node* next_free{nullptr};
};

// The nodes of one worker. They are handed out as from a stack, so that in the common case the same group of an
// iterative program has the same node in each iteration.
class tree_nodes {
 public:
  void start(unsigned worker) {
    all_.reset(new tree_node[most]);
    for (unsigned i = most; i-- > 0;) {
      all_[i].home = worker;
      all_[i].next_free = free_;
      free_ = &all_[i];
    }
  }
  // Returns null if groups nest deeper than there are nodes; the group is then not laid out.
  tree_node* take() noexcept {
    std::lock_guard hold(lock_);
    tree_node* n = free_;
    if (n != nullptr) free_ = n->next_free;
    return n;
  }
  void give(tree_node& n) noexcept {
    std::lock_guard hold(lock_);
    n.next_free = free_;
    free_ = &n;
  }

 private:
  static constexpr unsigned most = 512;
  detail::spin_word lock_;
  std::unique_ptr<tree_node[]> all_;
  tree_node* free_{nullptr};  // under lock_
};

// The number of children that groups had, by the code of their first child. It is the guess for groups without hints.
class group_memory {
 public:
  struct guess {
    unsigned children;
    double work;  // 0 if not known
  };
  guess recall(const void* label) const noexcept {
    const line& l = lines_[place(label)];
    // relaxed: the result is a guess, so any mixture of old and new values will do
    if (l.label.load(std::memory_order_relaxed) != label) return {2, 0};
    return {l.children.load(std::memory_order_relaxed), l.work.load(std::memory_order_relaxed)};
  }
  void remember(const void* label, unsigned children, double work) noexcept {
    line& l = lines_[place(label)];
    l.children.store(children, std::memory_order_relaxed);  // relaxed as in recall, all three
    l.work.store(work, std::memory_order_relaxed);
    l.label.store(label, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t size = 256;
  static std::size_t place(const void* label) noexcept {
    return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(label) * 0x9e3779b97f4a7c15u) >> 56) % size;
  }
  struct line {
    std::atomic<const void*> label{nullptr};
    std::atomic<unsigned> children{2};
    std::atomic<double> work{0};
  };
  line lines_[size];
};

}  // namespace heddle::policy

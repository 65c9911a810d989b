/// The machine that a runtime's workers run on, as schedulers see it: which workers share which cache or memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <heddle/export.hpp>

namespace heddle::machine {

/// A hardware thread.
struct processing_unit {
  int number{-1};  ///< the operating system's number
  /// The logical numbers of core and package are counted through the whole machine.
  unsigned core{0};
  unsigned package{0};
  unsigned sibling{0};  ///< which hardware thread of its core it is
  int numa{0};          ///< the operating system's number of the nearest NUMA node
  /// The kind of core: 0 does the least work per time. It is 0 for all units of a uniform machine.
  unsigned kind{0};
  double speed{1};  ///< relative to the fastest kind of core of the machine
};

enum class group_kind : std::uint8_t { memory, numa, l5, l4, l3, l2, l1, unit };

/// Returns "memory", "numa", "l5" ... "l1" or "unit".
constexpr const char* name(group_kind kind) noexcept {
  constexpr const char* names[] = {"memory", "numa", "l5", "l4", "l3", "l2", "l1", "unit"};
  return names[static_cast<unsigned>(kind)];
}
constexpr bool is_cache(group_kind kind) noexcept { return kind >= group_kind::l5 && kind <= group_kind::l1; }

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
inline constexpr unsigned no_group = ~0u;

/// A node of the tree of memory groups: the workers that share a memory. Ids refer to the tree that holds the node.
/// Children have consecutive ids, and the workers of a group have consecutive ranks.
struct memory_group {
  unsigned id{0};
  unsigned parent{no_group};
  unsigned first_child{0};
  unsigned child_count{0};
  unsigned first_worker{0};
  unsigned worker_count{0};
  unsigned level{0};  ///< 0 for the root
  group_kind kind{group_kind::memory};
  /// In bytes; unlimited for the root, 0 if unknown.
  std::uint64_t capacity{0};
  unsigned line_size{0};  ///< in bytes; 0 if unknown or not a cache
  int associativity{0};   ///< ways; -1 if fully associative, 0 if unknown or not a cache
  unsigned sharing{0};    ///< processing units of the whole machine that share it
  /// The operating system's number of the NUMA node, or -1 if the group spans several.
  int numa{-1};
  double speed{0};  ///< the sum over its workers
  /// The nanoseconds until one of its workers has a line that lies here; 0 if not known.
  double latency{0};

  bool is_leaf() const noexcept { return child_count == 0; }
  bool has(unsigned worker) const noexcept { return worker - first_worker < worker_count; }
};

/// The time that a core of node `from` takes to get a line from the memory of node `to`, caches included.
struct node_latency {
  int from{0}, to{0};  ///< the operating system's numbers
  double ns{0};
};

/// The tree of memory groups. The root is the memory, of unlimited capacity. A node below it is a cache, or a NUMA
/// node; NUMA nodes are there only if there are several and they hold more than one cache each. Of several nodes with
/// the same workers only the topmost cache is kept, so a leaf is the largest cache that one worker has for itself.
/// Workers that share their innermost cache, like the hardware threads of a core, get leaves of kind `unit` below it.
/// Each such leaf has an equal part of the cache's capacity.
///
/// This is a view: it is valid as long as the object that it was obtained from, for example a runtime. Thread context:
/// any; no function suspends.
class view {
 public:
  /// Makes the view of an unknown machine.
  view() noexcept = default;
  /// Makes a view from the groups breadth first, the root first, and from the leaf and the processing unit of each
  /// worker, by rank.
  view(std::span<const memory_group> groups, std::span<const unsigned> leaves, std::span<const processing_unit> units,
       std::span<const node_latency> latencies = {}) noexcept
      : groups_(groups), leaves_(leaves), units_(units), latencies_(latencies) {}

  bool is_known() const noexcept { return !groups_.empty(); }
  unsigned workers() const noexcept { return static_cast<unsigned>(leaves_.size()); }
  unsigned levels() const noexcept { return is_known() ? groups_.back().level + 1 : 0; }

  /// All functions below need a known machine. groups() returns the tree, breadth first.
  std::span<const memory_group> groups() const noexcept { return groups_; }
  const memory_group& root() const noexcept { return groups_.front(); }
  const memory_group& group(unsigned id) const noexcept { return groups_[id]; }
  std::span<const memory_group> children(const memory_group& of) const noexcept {
    return groups_.subspan(of.first_child, of.child_count);
  }
  /// Returns the ids of the groups of a level, by rank. A leaf above the level stands for itself. Together the groups
  /// hold every worker once.
  std::vector<unsigned> groups_at(unsigned level) const {
    std::vector<unsigned> ids;
    for (const memory_group& g : groups_) {
      if (g.level == level || (g.is_leaf() && g.level < level)) ids.push_back(g.id);
    }
    std::sort(ids.begin(), ids.end(),
              [&](unsigned a, unsigned b) { return group(a).first_worker < group(b).first_worker; });
    return ids;
  }
  /// Returns the sum of the capacities of the groups at `level` below `of` (or of `of` itself, if it is at that level
  /// or is a leaf above it).
  std::uint64_t capacity_at(const memory_group& of, unsigned level) const noexcept {
    if (of.level >= level || of.is_leaf()) return of.capacity;
    std::uint64_t sum = 0;
    for (const memory_group& child : children(of)) {
      const std::uint64_t part = capacity_at(child, level);
      sum = part > unlimited - sum ? unlimited : sum + part;
    }
    return sum;
  }

  const processing_unit& unit_of(unsigned worker) const noexcept { return units_[worker]; }
  std::span<const processing_unit> units_of(const memory_group& g) const noexcept {
    return units_.subspan(g.first_worker, g.worker_count);
  }
  const memory_group& leaf_of(unsigned worker) const noexcept { return group(leaves_[worker]); }
  /// Returns the smallest group that holds both workers.
  const memory_group& common_group(unsigned a, unsigned b) const noexcept {
    const memory_group* g = &leaf_of(a);
    while (!g->has(b)) g = &group(g->parent);
    return *g;
  }
  /// Returns the number of levels from a's leaf up to that group, 0 for a == b. It is not symmetric if leaves lie at
  /// different levels.
  unsigned distance(unsigned a, unsigned b) const noexcept { return leaf_of(a).level - common_group(a, b).level; }
  /// Returns the nanoseconds until worker `a` has a line that worker `b` had last. The line comes from the smallest
  /// cache that they share, or else from the memory of b's node. Returns 0 if that is not known. Only machine files of
  /// the simulator tell it; the machine at hand does not.
  double latency(unsigned a, unsigned b) const noexcept {
    const memory_group& common = common_group(a, b);
    if (is_cache(common.kind)) return common.latency;
    for (const node_latency& known : latencies_) {
      if (known.from == unit_of(a).numa && known.to == unit_of(b).numa) return known.ns;
    }
    return common.latency;
  }
  /// Returns the largest cache that the worker shares with others, which papers on multi-socket machines call the
  /// shared cache. Returns null if it shares none.
  const memory_group* shared_cache_of(unsigned worker) const noexcept {
    const memory_group* largest = nullptr;
    for (const memory_group* g = &leaf_of(worker);; g = &group(g->parent)) {
      if (is_cache(g->kind) && g->worker_count > 1) largest = g;
      if (g->parent == no_group) return largest;
    }
  }

 private:
  std::span<const memory_group> groups_;
  std::span<const unsigned> leaves_;
  std::span<const processing_unit> units_;
  std::span<const node_latency> latencies_;
};

}  // namespace heddle::machine

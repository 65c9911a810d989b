/// The machine that a runtime's workers run on, as schedulers see it: who shares which cache or memory.
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
  int number{-1};    ///< the operating system's
  unsigned core{0};  ///< logical numbers, counted through the whole machine
  unsigned package{0};
  unsigned sibling{0};  ///< which hardware thread of its core
  int numa{0};          ///< operating system's number of the nearest NUMA node
  unsigned kind{0};     ///< kind of core: 0 is the least efficient in work per time; all 0 on a uniform machine
  double speed{1};      ///< relative to the fastest kind of core of the machine
};

enum class group_kind : std::uint8_t { memory, numa, l5, l4, l3, l2, l1, unit };

/// "memory", "numa", "l5" ... "l1", "unit".
constexpr const char* name(group_kind kind) noexcept {
  constexpr const char* names[] = {"memory", "numa", "l5", "l4", "l3", "l2", "l1", "unit"};
  return names[static_cast<unsigned>(kind)];
}
constexpr bool is_cache(group_kind kind) noexcept { return kind >= group_kind::l5 && kind <= group_kind::l1; }

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
inline constexpr unsigned no_group = ~0u;

/// Workers that share a memory: a node of the tree of memory groups. Numbers refer to the tree that holds it: children
/// have consecutive ids, workers of a group have consecutive ranks.
struct memory_group {
  unsigned id{0};
  unsigned parent{no_group};
  unsigned first_child{0};
  unsigned child_count{0};
  unsigned first_worker{0};
  unsigned worker_count{0};
  unsigned level{0};  ///< 0: the root
  group_kind kind{group_kind::memory};
  std::uint64_t capacity{0};  ///< bytes; unlimited for the root, 0 when unknown
  unsigned line_size{0};      ///< bytes; 0 when unknown or not a cache
  int associativity{0};       ///< ways; -1 fully associative, 0 when unknown or not a cache
  unsigned sharing{0};        ///< processing units of the whole machine that share it
  int numa{-1};               ///< operating system's number of the node; -1 when it spans several
  double speed{0};            ///< sum over its workers
  double latency{0};          ///< ns until one of its workers has a line that lies here; 0: not known

  bool is_leaf() const noexcept { return child_count == 0; }
  bool has(unsigned worker) const noexcept { return worker - first_worker < worker_count; }
};

/// How long a core of node `from` takes to get a line out of the memory of node `to`, caches included.
struct node_latency {
  int from{0}, to{0};  ///< operating system's numbers
  double ns{0};
};

/// The tree of memory groups. The root is the memory, of unlimited capacity. A node below it is a NUMA node, if there
/// are several and they hold more than one cache each, or a cache. Of nodes with the same workers only the topmost
/// cache stays: a leaf is the largest cache that one worker has for itself. Workers that share their innermost cache,
/// like hardware threads of one core, get leaves of kind `unit` below it, each with an equal part of its capacity.
///
/// A view: valid as long as what it was got from, a runtime for example. Thread context: any; nothing suspends.
class view {
 public:
  /// A machine of which nothing is known.
  view() noexcept = default;
  /// The groups breadth first, the root first; the leaf and the processing unit of each worker, by rank.
  view(std::span<const memory_group> groups, std::span<const unsigned> leaves, std::span<const processing_unit> units,
       std::span<const node_latency> latencies = {}) noexcept
      : groups_(groups), leaves_(leaves), units_(units), latencies_(latencies) {}

  bool is_known() const noexcept { return !groups_.empty(); }
  unsigned workers() const noexcept { return static_cast<unsigned>(leaves_.size()); }
  unsigned levels() const noexcept { return is_known() ? groups_.back().level + 1 : 0; }

  /// Everything below needs a machine that is known. The tree, breadth first.
  std::span<const memory_group> groups() const noexcept { return groups_; }
  const memory_group& root() const noexcept { return groups_.front(); }
  const memory_group& group(unsigned id) const noexcept { return groups_[id]; }
  std::span<const memory_group> children(const memory_group& of) const noexcept {
    return groups_.subspan(of.first_child, of.child_count);
  }
  /// Ids of the groups of a level, by rank; a leaf above it stands for itself. Together they hold every worker once.
  std::vector<unsigned> groups_at(unsigned level) const {
    std::vector<unsigned> ids;
    for (const memory_group& g : groups_) {
      if (g.level == level || (g.is_leaf() && g.level < level)) ids.push_back(g.id);
    }
    std::sort(ids.begin(), ids.end(),
              [&](unsigned a, unsigned b) { return group(a).first_worker < group(b).first_worker; });
    return ids;
  }
  /// Sum of the capacities of the groups at `level` below `of` (itself if it is at that level or a leaf above it).
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
  /// The smallest group that holds both workers.
  const memory_group& common_group(unsigned a, unsigned b) const noexcept {
    const memory_group* g = &leaf_of(a);
    while (!g->has(b)) g = &group(g->parent);
    return *g;
  }
  /// Levels from a's leaf up to that group; 0 for a == b. Not symmetric where leaves lie at different levels.
  unsigned distance(unsigned a, unsigned b) const noexcept { return leaf_of(a).level - common_group(a, b).level; }
  /// ns until worker `a` has a line that worker `b` had last: from the smallest cache that they share, else from the
  /// memory of b's node. 0: not known. Machine files of the simulator know it; of the machine at hand nothing tells.
  double latency(unsigned a, unsigned b) const noexcept {
    const memory_group& common = common_group(a, b);
    if (is_cache(common.kind)) return common.latency;
    for (const node_latency& known : latencies_) {
      if (known.from == unit_of(a).numa && known.to == unit_of(b).numa) return known.ns;
    }
    return common.latency;
  }
  /// The largest cache that the worker shares with others: what papers on multi-socket machines call the shared cache.
  /// Null: it shares none.
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

// The cost of each unit's own accesses, in lines: by level of the caches, and by memory.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/model.hpp"
#include "sim/cache_tree.hpp"

namespace heddle::sim {

struct level_count {
  machine::group_kind kind;
  std::uint64_t accesses{0}, misses{0};  // lines
  std::uint64_t invalidations{0};        // copies that writes took out of caches of this level
};

// The cost of one unit's own accesses, in lines, by their distance.
struct reach_count {
  // In no cache that its core has for itself; 0 if there is no such cache.
  std::uint64_t beyond_core{0};
  // In none of its caches; 0 unless the last of them is shared between cores.
  std::uint64_t beyond_caches{0};
  std::uint64_t local{0}, remote{0};  // from the memory of its own node; from that of other nodes
  // In none of its caches, and from the caches of a core that had modified the line.
  std::uint64_t from_caches{0};
  std::uint64_t transfers{0};  // from the caches of a core that had modified the line, including `from_caches`
  // Written while others had copies and no path had modified the line.
  std::uint64_t upgrades{0};
  bool has_own{false}, has_shared{false};  // there is such a cache
};

class access_counts {
 public:
  access_counts(const machine::model& machine, const cache_tree& caches);

  // The counters of a unit, which the counting code uses: by level, and by memory.
  struct of_level {
    std::uint64_t accesses{0}, misses{0}, invalidations{0};
  };
  struct of_memory {
    std::uint64_t local{0}, remote{0}, from_caches{0}, transfers{0}, upgrades{0};
  };
  of_level* levels_for(unsigned unit) noexcept { return counts_.data() + unit * kinds_.size(); }
  of_memory& memory_for(unsigned unit) noexcept { return reaches_[unit].memory; }

  // Innermost level first: sums, and the counts of one unit.
  std::vector<level_count> levels() const;
  std::vector<level_count> levels_of(unsigned unit) const;
  reach_count reach_of(unsigned unit) const noexcept;

  void reset() noexcept;
  std::uint64_t bytes() const noexcept;

 private:
  // For a unit: the level, by index, of the last cache that its core has for itself, and of its last cache if cores
  // share it.
  struct reach {
    static constexpr unsigned none = ~0u;
    unsigned own{none}, shared{none};
    of_memory memory;
  };

  std::vector<machine::group_kind> kinds_;  // by level
  std::vector<of_level> counts_;            // [unit * levels + level]
  std::vector<reach> reaches_;              // by unit
};

}  // namespace heddle::sim

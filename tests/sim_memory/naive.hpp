// A second implementation of the caches, written for plainness: lists, searched from the front, and no directory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "machine/model.hpp"

namespace heddle::sim::naive {

class cache {
 public:
  cache(std::uint64_t sets, std::uint64_t ways) : ways_(ways), sets_(sets) {}

  bool access(std::uint64_t line) {
    std::list<std::uint64_t>& set = sets_[line % sets_.size()];
    const auto found = std::find(set.begin(), set.end(), line);
    const bool hit = found != set.end();
    if (hit) set.erase(found);
    else if (set.size() == ways_) set.pop_back();
    set.push_front(line);
    return hit;
  }
  bool remove(std::uint64_t line) { return sets_[line % sets_.size()].remove(line) != 0; }

 private:
  std::uint64_t ways_;
  std::vector<std::list<std::uint64_t>> sets_;
};

// Addresses are the frames' already.
class machine_caches {
 public:
  struct level {
    std::uint64_t accesses{0}, misses{0}, invalidations{0};
  };

  explicit machine_caches(const machine::model& m) : levels_(8) {
    for (const machine::cache_info& c : m.tree.caches()) {
      const std::uint64_t lines = c.capacity / c.line_size;
      const std::uint64_t ways = c.associativity < 0 ? lines : static_cast<std::uint64_t>(c.associativity);
      caches_.push_back({c, cache(lines / ways, ways)});
      smallest_ = std::min<std::uint64_t>(smallest_, c.line_size);
      largest_ = std::max<std::uint64_t>(largest_, c.line_size);
    }
  }

  // One line of the smallest size.
  void access(unsigned unit, std::uint64_t address, bool write) {
    address -= address % smallest_;
    for (one& c : caches_) {
      if (!serves(c, unit)) continue;
      ++of(c).accesses;
      if (c.lines.access(address / c.info.line_size)) break;
      ++of(c).misses;
    }
    if (!write) return;
    const std::uint64_t block = address - address % largest_;
    for (one& c : caches_) {
      if (serves(c, unit)) continue;
      for (std::uint64_t at = block; at < block + largest_; at += c.info.line_size) {
        if (c.lines.remove(at / c.info.line_size)) ++of(c).invalidations;
      }
    }
  }
  const level& at(machine::group_kind kind) const { return levels_[static_cast<unsigned>(kind)]; }

 private:
  struct one {
    machine::cache_info info;
    cache lines;
  };
  static bool serves(const one& c, unsigned unit) { return c.info.first_unit <= unit && unit < c.info.last_unit; }
  level& of(const one& c) { return levels_[static_cast<unsigned>(c.info.kind)]; }

  std::vector<one> caches_;  // innermost level first
  std::vector<level> levels_;
  std::uint64_t smallest_{~0ull}, largest_{0};
};

}  // namespace heddle::sim::naive

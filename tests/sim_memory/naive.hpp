// A second implementation of the caches and of who has modified what, written for plainness: lists, searched from the
// front, a map, and no directory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
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
    lost = none;
    if (hit) {
      set.erase(found);
    } else if (set.size() == ways_) {
      lost = set.back();
      set.pop_back();
    }
    set.push_front(line);
    return hit;
  }
  static constexpr std::uint64_t none = ~0ull;
  std::uint64_t lost{none};  // by the last access

  bool contains(std::uint64_t line) const {
    const std::list<std::uint64_t>& set = sets_[line % sets_.size()];
    return std::find(set.begin(), set.end(), line) != set.end();
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
      const auto level = std::ranges::find(m.caches, c.kind, &machine::cache_level::kind);
      caches_.push_back({c, cache(lines / ways, ways), level != m.caches.end() && level->victim});
      smallest_ = std::min<std::uint64_t>(smallest_, c.line_size);
      largest_ = std::max<std::uint64_t>(largest_, c.line_size);
    }
  }

  // One line of the smallest size.
  void access(unsigned unit, std::uint64_t address, bool write) {
    address -= address % smallest_;
    const std::uint64_t block = address - address % largest_;
    const std::size_t inner = innermost(unit);
    bool missed = false, missed_all = true;
    one* last = nullptr;
    std::uint64_t pushed_out = cache::none;
    const bool elsewhere = owned_elsewhere(unit, address);
    bool beside = false;
    for (one& c : caches_) {
      if (!serves(c, unit)) continue;
      ++of(c).accesses;
      if (c.victim) {
        missed_all = !find_victim(c, address, !asked_[block].empty() && asked_[block] != std::set{inner});
        beside = missed_all && !elsewhere && has_beside(c, unit, address);
        if (beside) take_in(c, address / c.info.line_size);
        if (last->lines.lost != cache::none) pushed_out = last->lines.lost;
      } else {
        missed_all = !c.lines.access(address / c.info.line_size);
      }
      last = &c;
      if (!missed_all) break;
      ++of(c).misses;
      missed = true;
    }
    if (missed) asked_[block].insert(inner);
    const bool transferred = missed && elsewhere;
    transfers += transferred || beside ? 1 : 0;
    (transferred || beside ? from_caches : from_memory) += missed_all ? 1 : 0;
    if (missed_all && !transferred && !beside) write_backs += stale_.erase(block);
    if (missed_all && !last->victim && last->lines.lost != cache::none) written_back(*last, last->lines.lost);
    if (pushed_out != cache::none) take_in(*last, pushed_out);
    const auto owner = modified_.find(block);
    if (!write) {
      if (missed && owner != modified_.end() && owner->second != inner) modified_.erase(owner);
      return;
    }
    modified_[block] = inner;
    stale_.insert(block);
    asked_[block] = {inner};
    bool removed = false;
    for (one& c : caches_) {
      if (serves(c, unit)) continue;
      for (std::uint64_t at = block; at < block + largest_; at += c.info.line_size) {
        if (!c.lines.remove(at / c.info.line_size)) continue;
        ++of(c).invalidations;
        removed = true;
      }
    }
    upgrades += removed && !transferred ? 1 : 0;
  }
  const level& at(machine::group_kind kind) const { return levels_[static_cast<unsigned>(kind)]; }

  // As reach_count has them, of all units; `from_memory` is its local and remote.
  std::uint64_t from_caches{0}, transfers{0}, upgrades{0}, from_memory{0}, write_backs{0};

 private:
  struct one {
    machine::cache_info info;
    cache lines;
    bool victim;
  };
  // By its place in caches_; units with the same one count as one.
  std::size_t innermost(unsigned unit) const {
    std::size_t i = 0;
    while (!serves(caches_[i], unit)) ++i;
    return i;
  }
  // Somebody else has modified the block, and a cache that is not the unit's has the line.
  bool owned_elsewhere(unsigned unit, std::uint64_t address) const {
    const auto owner = modified_.find(address - address % largest_);
    if (owner == modified_.end() || owner->second == innermost(unit) || !stale_.contains(owner->first)) return false;
    const unsigned theirs = caches_[owner->second].info.first_unit;
    return std::any_of(caches_.begin(), caches_.end(), [&](const one& c) {
      return serves(c, theirs) && !serves(c, unit) && c.lines.contains(address / c.info.line_size);
    });
  }
  void written_back(const one& c, std::uint64_t lost) {
    const std::uint64_t out = lost * c.info.line_size;
    write_backs += stale_.erase(out - out % largest_);
  }
  void take_in(one& c, std::uint64_t line) {
    if (!c.lines.access(line) && c.lines.lost != cache::none) written_back(c, c.lines.lost);
  }
  static bool find_victim(one& c, std::uint64_t address, bool others_asked) {
    const std::uint64_t line = address / c.info.line_size;
    if (!others_asked) return c.lines.remove(line);
    return c.lines.contains(line) && c.lines.access(line);
  }
  // A unit that shares the victim cache may have the line inside it. A unit that was asked in vain is not asked again.
  bool has_beside(const one& victim, unsigned unit, std::uint64_t address) {
    std::set<std::size_t>& asked = asked_[address - address % largest_];
    const std::size_t own = innermost(unit);
    for (const std::size_t other : std::set<std::size_t>(asked)) {
      const unsigned theirs = caches_[other].info.first_unit;
      if (other == own || !serves(victim, theirs)) continue;
      const bool has = std::any_of(caches_.begin(), caches_.end(), [&](const one& c) {
        return !c.victim && serves(c, theirs) && !serves(c, unit) && c.lines.contains(address / c.info.line_size);
      });
      if (has) return true;
      if (largest_ == smallest_) asked.erase(other);  // else it may have another line of the block
    }
    return false;
  }
  static bool serves(const one& c, unsigned unit) { return c.info.first_unit <= unit && unit < c.info.last_unit; }
  level& of(const one& c) { return levels_[static_cast<unsigned>(c.info.kind)]; }

  std::vector<one> caches_;  // innermost level first
  std::vector<level> levels_;
  std::map<std::uint64_t, std::set<std::size_t>> asked_;  // block -> who missed it since it was last written
  std::set<std::uint64_t> stale_;                         // blocks of which memory has an old value
  std::map<std::uint64_t, std::size_t> modified_;  // block -> innermost cache of who wrote it, until somebody else asks
  std::uint64_t smallest_{~0ull}, largest_{0};
};

}  // namespace heddle::sim::naive

// The exact least-recently-used order of many ways: a hash table from line to place, and a list per set. A step takes
// constant time whatever the number of ways, so a fully associative cache of millions of lines can be modelled.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/huge_pages.hpp"
#include "sim/prefetch.hpp"

namespace heddle::sim {

// A line of the modelled memory, by the number frame * lines per page + line in the page.
using line_number = std::uint32_t;
inline constexpr line_number no_line = ~0u;

class cache_index {
 public:
  cache_index(std::uint32_t sets, std::uint32_t ways);

  // As in cache. The caller chooses the set, always the same for a line.
  bool access(line_number line, std::uint32_t set);
  bool remove(line_number line, std::uint32_t set);
  // The least recently used line of a set that is full; no_line if the set is not full.
  line_number last_of(std::uint32_t set) const {
    return lists_[set].free == nowhere ? nodes_[lists_[set].last].line : no_line;
  }
  bool contains(line_number line) const { return slot_of(line) != no_slot; }
  void clear();
  void prefetch(line_number line) const noexcept { fetch_ahead(&table_[home_of(line)]); }
  std::uint64_t bytes() const noexcept {
    return nodes_.capacity() * sizeof(node) + lists_.capacity() * sizeof(list) + table_.capacity() * sizeof(place);
  }

 private:
  using place = std::uint32_t;  // an index into nodes_: set * ways + k
  static constexpr place nowhere = ~0u;
  static constexpr std::uint64_t no_slot = ~std::uint64_t{0};

  struct node {
    line_number line;
    place before, after;  // in order of use; `after` also chains the free places
  };
  struct list {
    place first, last, free;
  };

  std::uint64_t home_of(line_number line) const { return (line * std::uint64_t{0x9E3779B97F4A7C15}) >> shift_; }
  std::uint64_t slot_of(line_number line) const;  // no_slot if absent
  void enter(line_number line, place at);
  void erase(std::uint64_t slot);
  void unlink(list& of, place at);
  void push_front(list& of, place at);

  std::uint32_t ways_;
  unsigned shift_;
  std::uint64_t mask_;
  table<node> nodes_;
  std::vector<list> lists_;
  table<place> table_;  // open addressing, linear probing, at most half full
};

}  // namespace heddle::sim

#include "sim/cache_index.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace heddle::sim {

cache_index::cache_index(std::uint32_t sets, std::uint32_t ways) : ways_(ways), lists_(sets) {
  const std::uint64_t lines = std::uint64_t{sets} * ways;
  if (lines >= nowhere) throw std::invalid_argument("a cache of more than 2^32 lines cannot be modelled");
  const std::uint64_t size = std::bit_ceil(2 * lines);
  mask_ = size - 1;
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(size));
  nodes_.resize(lines);
  table_.resize(size);
  clear();
}

void cache_index::clear() {
  std::fill(table_.begin(), table_.end(), nowhere);
  for (std::uint32_t set = 0; set < lists_.size(); ++set) {
    const place begin = set * ways_;
    for (place at = begin; at < begin + ways_; ++at) nodes_[at] = {no_line, nowhere, at + 1};
    nodes_[begin + ways_ - 1].after = nowhere;
    lists_[set] = {nowhere, nowhere, begin};
  }
}

std::uint64_t cache_index::slot_of(line_number line) const {
  for (std::uint64_t slot = home_of(line); table_[slot] != nowhere; slot = (slot + 1) & mask_) {
    if (nodes_[table_[slot]].line == line) return slot;
  }
  return no_slot;
}

void cache_index::enter(line_number line, place at) {
  std::uint64_t slot = home_of(line);
  while (table_[slot] != nowhere) slot = (slot + 1) & mask_;
  table_[slot] = at;
}

// Moves later entries of the run back over the gap, so that no search ends too early (Knuth 6.4, algorithm R).
void cache_index::erase(std::uint64_t gap) {
  for (std::uint64_t slot = (gap + 1) & mask_; table_[slot] != nowhere; slot = (slot + 1) & mask_) {
    const std::uint64_t home = home_of(nodes_[table_[slot]].line);
    if (((slot - home) & mask_) < ((slot - gap) & mask_)) continue;
    table_[gap] = table_[slot];
    gap = slot;
  }
  table_[gap] = nowhere;
}

void cache_index::unlink(list& of, place at) {
  const node& n = nodes_[at];
  (n.before != nowhere ? nodes_[n.before].after : of.first) = n.after;
  (n.after != nowhere ? nodes_[n.after].before : of.last) = n.before;
}

void cache_index::push_front(list& of, place at) {
  nodes_[at].before = nowhere;
  nodes_[at].after = of.first;
  (of.first != nowhere ? nodes_[of.first].before : of.last) = at;
  of.first = at;
}

bool cache_index::access(line_number line, std::uint32_t set) {
  list& order = lists_[set];
  if (order.first != nowhere && nodes_[order.first].line == line) return true;
  if (const std::uint64_t slot = slot_of(line); slot != no_slot) {
    const place at = table_[slot];
    unlink(order, at);
    push_front(order, at);
    return true;
  }
  place at = order.free;
  if (at != nowhere) {
    order.free = nodes_[at].after;
  } else {
    at = order.last;
    erase(slot_of(nodes_[at].line));
    unlink(order, at);
  }
  nodes_[at].line = line;
  enter(line, at);
  push_front(order, at);
  return false;
}

bool cache_index::remove(line_number line, std::uint32_t set) {
  const std::uint64_t slot = slot_of(line);
  if (slot == no_slot) return false;
  const place at = table_[slot];
  erase(slot);
  unlink(lists_[set], at);
  nodes_[at] = {no_line, nowhere, lists_[set].free};
  lists_[set].free = at;
  return true;
}

}  // namespace heddle::sim

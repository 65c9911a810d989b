#include "sim/cache_tree.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>
#include <string>

namespace heddle::sim {

namespace {

constexpr unsigned unknown_line_size = 64;

unsigned line_size_of(const machine::cache_info& c) { return c.line_size != 0 ? c.line_size : unknown_line_size; }

machine::cache_level level_of(const machine::model& machine, machine::group_kind kind) {
  const auto found = std::ranges::find(machine.caches, kind, &machine::cache_level::kind);
  return found == machine.caches.end() ? machine::cache_level{.kind = kind} : *found;
}

}  // namespace

cache_tree::cache_tree(const machine::model& machine) {
  unsigned smallest = 0, largest = 0;
  for (const machine::cache_info& c : machine.tree.caches()) {
    const unsigned size = line_size_of(c);
    if (!std::has_single_bit(size) || size > machine.page_size) {
      throw std::invalid_argument("machine " + machine.name + ": a cache line of " + std::to_string(size) +
                                  " bytes; it must be a power of two and not above the size of a page");
    }
    smallest = smallest == 0 ? size : std::min(smallest, size);
    largest = std::max(largest, size);
  }
  if (smallest == 0) smallest = largest = unknown_line_size;
  line_bits_ = static_cast<unsigned>(std::countr_zero(smallest));
  block_shift_ = static_cast<unsigned>(std::countr_zero(largest)) - line_bits_;
  build_paths(machine);
  apart_.resize(paths_.size() * paths_.size());
  for (std::size_t p = 0; p < paths_.size(); ++p) {
    for (std::size_t q = 0; q < paths_.size(); ++q) {
      const auto on_p = [&](const cache_step& step) {
        return std::any_of(paths_[p].steps.begin(), paths_[p].steps.begin() + paths_[p].depth,
                           [&](const cache_step& own) { return own.where == step.where; });
      };
      std::uint8_t count = 0;
      while (count < paths_[q].depth && !on_p(paths_[q].steps[count])) ++count;
      apart_[p * paths_.size() + q] = count;
    }
  }
}

void cache_tree::build_paths(const machine::model& machine) {
  const std::span<const machine::cache_info> known = machine.tree.caches();
  std::vector<cache*> made(known.size(), nullptr);
  const auto shape_of = [](const machine::cache_info& c) {
    return cache_shape::of(c.capacity, line_size_of(c), c.associativity);
  };
  // Each cache's sets begin at a line of the host machine.
  const auto rounded = [](std::size_t lines) { return (lines + 15) / 16 * 16; };
  std::size_t total = 0;
  for (const machine::cache_info& c : known) total += c.capacity == 0 ? 0 : rounded(cache::storage_for(shape_of(c)));
  storage_.resize(total);
  line_number* storage = storage_.data();
  for (std::size_t i = 0; i < known.size(); ++i) {
    const machine::cache_info& c = known[i];
    if (c.capacity == 0) continue;  // unknown: treated as if it did not exist
    made[i] = caches_.emplace_back(std::make_unique<cache>(shape_of(c), storage)).get();
    storage += rounded(cache::storage_for(shape_of(c)));
    // caches() goes outwards, level by level
    if (levels_.empty() || levels_.back() != c.kind) levels_.push_back(c.kind);
  }
  std::map<const cache*, unsigned> by_innermost;
  for (unsigned unit = 0; unit < machine.tree.units().size(); ++unit) {
    cache_path path;
    path.fetched_bytes = 1u << line_bits_;
    for (std::size_t i = 0; i < known.size(); ++i) {
      const machine::cache_info& c = known[i];
      if (made[i] == nullptr || unit < c.first_unit || unit >= c.last_unit) continue;
      if (path.depth == cache_path::max_depth)
        throw std::invalid_argument("machine " + machine.name + ": more than five levels of caches");
      const unsigned size = line_size_of(c);
      path.steps[path.depth++] = {made[i], static_cast<unsigned>(std::ranges::find(levels_, c.kind) - levels_.begin()),
                                  static_cast<unsigned>(std::countr_zero(size)) - line_bits_,
                                  level_of(machine, c.kind).latency};
      const bool wrong =
          path.victim || (level_of(machine, c.kind).victim && (path.depth == 1 || path.fetched_bytes != size));
      if (wrong) {
        throw std::invalid_argument("machine " + machine.name +
                                    ": a victim cache is the last one, behind another one with lines of the same size");
      }
      path.victim = level_of(machine, c.kind).victim;
      path.loses = path.depth - (path.victim ? 2 : 1);
      path.fetched_bytes = size;
      path.fetched_shift = path.steps[path.depth - 1].shift;
    }
    const auto [at, fresh] = by_innermost.try_emplace(path.steps[0].where, static_cast<unsigned>(paths_.size()));
    if (fresh) paths_.push_back(path);
    path_of_unit_.push_back(at->second);
  }
}

void cache_tree::clear() {
  for (const auto& c : caches_) c->clear();
}

std::uint64_t cache_tree::bytes() const noexcept {
  std::uint64_t sum = apart_.capacity();
  for (const auto& c : caches_) sum += c->bytes();
  return sum;
}

}  // namespace heddle::sim

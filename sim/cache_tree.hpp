// All caches of a machine, and for each processing unit the path through them from the innermost one to memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "machine/model.hpp"
#include "sim/cache.hpp"

namespace heddle::sim {

struct cache_step {
  cache* where{nullptr};
  unsigned level{0};  // index into cache_tree::levels()
  unsigned shift{0};  // this cache's line number = line of the model >> shift
  double latency{0};  // ns to get a line that is found here
};

// Units that share their innermost cache share everything behind it, too, and have one path.
struct cache_path {
  static constexpr unsigned max_depth = 5;
  std::array<cache_step, max_depth> steps;
  unsigned depth{0};  // with 0 each access goes to memory
  // The last cache takes in the lines that the one before it loses, and not those that come from memory.
  bool victim{false};
  // The step whose losses leave the path: the last one, or the one before a victim cache.
  unsigned loses{0};
  // The bytes moved from memory by a miss of the outermost cache: one line of it.
  unsigned fetched_bytes{0};
  unsigned fetched_shift{0};  // its number = line of the model >> fetched_shift
};

class cache_tree {
 public:
  // Throws std::invalid_argument for a line size that is not a power of two or larger than a page, and for a victim
  // cache with nothing inside it, with something behind it, or with other lines than the cache inside it.
  explicit cache_tree(const machine::model& machine);

  // The model counts in lines of the smallest size that a cache of the machine has. A larger line of another level is
  // looked up by its own number. Copies are invalidated in blocks of the largest size.
  unsigned line_bits() const noexcept { return line_bits_; }
  unsigned block_shift() const noexcept { return block_shift_; }  // block = line >> block_shift

  std::span<const machine::group_kind> levels() const noexcept { return levels_; }  // innermost first
  std::span<const cache_path> paths() const noexcept { return paths_; }
  unsigned path_of(unsigned unit) const noexcept { return path_of_unit_[unit]; }
  // The number of q's steps, from the innermost on, that are not on p's path. A write on p invalidates there.
  unsigned apart(unsigned p, unsigned q) const noexcept { return apart_[p * paths_.size() + q]; }

  void clear();
  std::uint64_t bytes() const noexcept;

 private:
  void build_paths(const machine::model& machine);

  unsigned line_bits_{6};
  unsigned block_shift_{0};
  std::vector<machine::group_kind> levels_;
  table<line_number> storage_;  // for all sets of all caches
  std::vector<std::unique_ptr<cache>> caches_;
  std::vector<cache_path> paths_;
  std::vector<unsigned> path_of_unit_;
  std::vector<std::uint8_t> apart_;
};

}  // namespace heddle::sim

// A set-associative cache of line numbers, without data, with exact least-recently-used replacement.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/cache_index.hpp"
#include "sim/huge_pages.hpp"
#include "sim/prefetch.hpp"
#include "sim/set_scan.hpp"

namespace heddle::sim {

// The division of a capacity into sets. Lines that do not fill a set of `ways` are left out, so a set count need not be
// a power of two; caches of the papers' machines have 11, 12 and 20 ways and odd slice counts.
struct cache_shape {
  std::uint32_t sets{1};
  std::uint32_t ways{1};

  // `associativity` is as in machine::cache_info: -1 means fully associative, 0 unknown, which counts as 8 ways. The
  // result has at least one line.
  static cache_shape of(std::uint64_t capacity, unsigned line_size, int associativity);
};

// There are two structures, by the number of ways. Up to `scanned_ways` each set is an array of its lines, last used
// first, searched and shifted four at a time; 16 ways of 4 bytes are one cache line of the host machine. Above that,
// cache_index is used, a hash table and a list.
class cache {
 public:
  static constexpr std::uint32_t scanned_ways = 32;

  // Keeps its sets at `storage`, which has room for storage_for(shape) line numbers, aligned to 16 bytes. Without
  // `storage` it has its own.
  explicit cache(cache_shape shape, line_number* storage = nullptr);
  static std::size_t storage_for(cache_shape shape) noexcept {
    return shape.ways > scanned_ways ? 0 : std::size_t{shape.sets} * padded(shape.ways);
  }

  // The place of the line's set. locate(line) and prefetch(line) return it, for callers that need it twice.
  using location = line_number*;
  // Finds the line and makes it the last used of its set; or puts it there, in place of the least recently used one.
  // Returns whether it was found.
  bool access(line_number line) { return access(line, locate(line)); }
  [[gnu::always_inline]] bool access(line_number line, location set) {
    if (set == nullptr) return index_->access(line, set_of(line));
    if (*set == line) return true;
    return set_scan::with_quads(stride_ / 4, [&]<unsigned Quads>() __attribute__((always_inline)) {
      return set_scan::to_front<Quads>(set, shape_.ways, line, no_line);
    });
  }
  // The line that access(line) would replace if it does not find `line`; no_line if there is room.
  [[gnu::always_inline]] line_number last_before(line_number line, location set) const {
    return set == nullptr ? index_->last_of(set_of(line)) : set[shape_.ways - 1];
  }
  location locate(line_number line) const noexcept { return index_ == nullptr ? set_at(line) : nullptr; }
  // Fetches the set into the cache of the host machine.
  location prefetch(line_number line) const noexcept {
    if (index_ != nullptr) {
      index_->prefetch(line);
      return nullptr;
    }
    const location set = set_at(line);
    fetch_ahead(set);
    // the set lies across lines of the host machine, or may do so
    if (stride_ > 8 && stride_ != 16) fetch_ahead(set + stride_ - 1);
    return set;
  }
  // Removes the line. Returns false if it is not there.
  [[gnu::always_inline]] bool remove(line_number line) { return remove(line, locate(line)); }
  [[gnu::always_inline]] bool remove(line_number line, location set) {
    if (index_ != nullptr) return index_->remove(line, set_of(line));
    return set_scan::with_quads(stride_ / 4, [&]<unsigned Quads>() __attribute__((always_inline)) {
      return set_scan::take_out<Quads>(set, line, no_line);
    });
  }
  // The same, not inlined, for places where it is seldom called.
  [[gnu::noinline]] bool remove_seldom(line_number line) { return remove(line); }
  bool contains(line_number line) const;
  void clear();

  std::uint64_t lines() const noexcept { return std::uint64_t{shape_.sets} * shape_.ways; }
  cache_shape shape() const noexcept { return shape_; }
  std::uint64_t bytes() const noexcept {
    return storage_for(shape_) * sizeof(line_number) + (index_ != nullptr ? index_->bytes() : 0);
  }

 private:
  // line % sets. If the number of sets is not a power of two, Lemire's remainder by two multiplications (doi
  // 10.1002/spe.2689).
  std::uint32_t set_of(line_number line) const noexcept {
    if (mask_ != no_mask) return line & mask_;
    const std::uint64_t fraction = inverse_ * line;
    return static_cast<std::uint32_t>((static_cast<wide>(fraction) * shape_.sets) >> 64);
  }
  line_number* set_at(line_number line) const noexcept { return sets_ + std::size_t{set_of(line)} * stride_; }
  static constexpr std::uint32_t padded(std::uint32_t ways) noexcept { return (ways + 3) / 4 * 4; }

  __extension__ using wide = unsigned __int128;
  static constexpr std::uint32_t no_mask = ~0u;

  cache_shape shape_;
  std::uint32_t stride_;
  std::uint32_t mask_;
  std::uint64_t inverse_;
  table<line_number> own_;
  // `ways` lines each, last used first; no_line in free places and in those up to the stride.
  line_number* sets_;
  std::unique_ptr<cache_index> index_;  // instead of sets_
};

}  // namespace heddle::sim

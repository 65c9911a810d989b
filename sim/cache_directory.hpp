// The paths that may hold a copy of a line, which a write must look through.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/cache_index.hpp"
#include "sim/huge_pages.hpp"
#include "sim/prefetch.hpp"

namespace heddle::sim {

// A bit set of paths for each block of touched memory, in a table indexed by block number (frames are dense). A path
// leads from an innermost cache to memory.
//
// The set of a block includes every path with a copy in one of its caches. It may name more, because an eviction tells
// nothing. So the named caches are looked up when the block is written. That keeps reads of a line that is found, and
// evictions, free of charge. Exactness is not lost, because the look-up in the cache decides.
class cache_directory {
 public:
  static constexpr unsigned nobody = ~0u;     // no path
  static constexpr unsigned chunk_bits = 18;  // blocks in a piece of the table; 2 MB for 64 paths

  explicit cache_directory(unsigned paths);

  // Makes entries up to block `last`. Must precede the use of the entries by the other functions.
  void cover(std::uint32_t last);

  // Called when `path` has read the block, whose entry has been fetched.
  void add(std::uint32_t block, unsigned path) { entry_of(block)[path / 64] |= bit(path); }
  // The same if the entry has not been fetched. The path is noted, and entered when `delay` more have been noted or
  // before something is written. The table is larger than the caches under it, and meanwhile the entry comes from
  // memory.
  void add_later(std::uint32_t block, unsigned path) {
    note& oldest = notes_[next_ % delay];
    if (next_ - entered_ == delay) {
      add(oldest.block, oldest.path);
      ++entered_;
    }
    oldest = {block, path};
    ++next_;
    prefetch(block);
  }

  // Announces take(block) or add(block), so that the entry is fetched meanwhile.
  void prefetch(std::uint32_t block) { fetch_ahead(entry_of(block)); }
  // The same for blocks [first, last] of one page, whose entries lie one after the other.
  void prefetch(std::uint32_t first, std::uint32_t last) {
    const std::uint32_t step = 8 / std::min(8u, words_);
    for (std::uint32_t block = first; block < last; block += step) prefetch(block);
    prefetch(last);
  }
  // Calls other(q) for each path but `path` that is entered for the block, in ascending order.
  template <class Other>
  void for_others(std::uint32_t block, unsigned path, Other&& other) {
    const std::uint64_t* const entry = entry_of(block);
    for (unsigned word = 0; word < words_; ++word) {
      std::uint64_t left = entry[word];
      if (word == path / 64) left &= ~bit(path);
      for (; left != 0; left &= left - 1) other(word * 64 + static_cast<unsigned>(__builtin_ctzll(left)));
    }
  }
  // The only path that is entered for the block; `nobody` if there is none or more than one.
  unsigned alone(std::uint32_t block) {
    enter_all();
    const std::uint64_t* const entry = entry_of(block);
    unsigned found = nobody;
    for (unsigned word = 0; word < words_; ++word) {
      if (entry[word] == 0) continue;
      if (found != nobody || (entry[word] & (entry[word] - 1)) != 0) return nobody;
      found = word * 64 + static_cast<unsigned>(__builtin_ctzll(entry[word]));
    }
    return found;
  }
  // Whether a path but `path` is entered for the block.
  bool has_other(std::uint32_t block, unsigned path) {
    enter_all();
    const std::uint64_t* const entry = entry_of(block);
    std::uint64_t others = 0;
    for (unsigned word = 0; word < words_; ++word) others |= entry[word] & ~(word == path / 64 ? bit(path) : 0);
    return others != 0;
  }
  // Called when the caches that `path` has apart from other entered paths hold nothing of the block.
  void remove(std::uint32_t block, unsigned path) { entry_of(block)[path / 64] &= ~bit(path); }
  // Whether take(block, path) would change nothing.
  bool has_alone(std::uint32_t block, unsigned path) {
    enter_all();
    const std::uint64_t* const entry = entry_of(block);
    bool alone = entry[path / 64] == bit(path);
    for (unsigned word = 0; words_ != 1 && word < words_; ++word)
      alone = alone && (word == path / 64 || entry[word] == 0);
    return alone;
  }
  // Called when `path` writes the block: calls other(q) for each other path that may have it, in ascending order, and
  // leaves `path` alone.
  template <class Other>
  void take(std::uint32_t block, unsigned path, Other&& other) {
    enter_all();
    for_others(block, path, std::forward<Other>(other));
    clear(block);
    entry_of(block)[path / 64] = bit(path);
  }
  // Called when the block ceases to exist: calls other(q) for every path that may have it.
  template <class Other>
  void drop(std::uint32_t block, Other&& other) {
    enter_all();
    for_others(block, nobody, std::forward<Other>(other));
    clear(block);
  }

  std::uint64_t bytes() const noexcept;

 private:
  static constexpr std::uint32_t delay = 32;

  static std::uint64_t bit(unsigned path) noexcept { return std::uint64_t{1} << (path % 64); }
  std::uint64_t* entry_of(std::uint32_t block) noexcept {
    return first_of_[block >> chunk_bits] + std::size_t{block & ((1u << chunk_bits) - 1)} * words_;
  }
  void clear(std::uint32_t block) {
    std::uint64_t* const entry = entry_of(block);
    *entry = 0;
    for (unsigned word = 1; word < words_; ++word) entry[word] = 0;
  }
  void enter_all() {
    for (; entered_ != next_; ++entered_) add(notes_[entered_ % delay].block, notes_[entered_ % delay].path);
  }

  struct note {
    std::uint32_t block;
    unsigned path;
  };

  unsigned words_;                      // words of a set
  std::uint32_t next_{0}, entered_{0};  // notes in [entered_, next_) wait
  std::array<note, delay> notes_{};
  std::vector<table<std::uint64_t>> chunks_;
  std::vector<std::uint64_t*> first_of_;  // by chunk
};

}  // namespace heddle::sim

// The blocks of which some cache has a newer value than memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/huge_pages.hpp"
#include "sim/prefetch.hpp"

namespace heddle::sim {

// One bit a block, in a table by block number. Frames are dense, so a million lines are 128 KB of the host machine. A
// look costs as much as the directory's entry, which is 64 times as large, only if that entry has to be read
// afterwards.
class stale_memory {
 public:
  // Makes bits for blocks below `end`, which may occur from this call on.
  void cover(std::uint64_t end) {
    const std::size_t words = static_cast<std::size_t>((end + 63) / 64);
    if (words <= words_.size()) return;
    words_.resize(std::max(words, 2 * words_.size()), 0);
  }

  bool has(std::uint32_t block) const noexcept { return (words_[block / 64] >> (block % 64) & 1) != 0; }
  // Consecutive blocks lie in one word, so an unconditional store for each would make each wait for the one before.
  void set(std::uint32_t block) noexcept {
    std::uint64_t& word = words_[block / 64];
    const std::uint64_t bit = std::uint64_t{1} << (block % 64);
    if ((word & bit) == 0) word |= bit;
  }
  void fetch(std::uint32_t block) const noexcept { fetch_ahead(&words_[block / 64]); }
  void reset(std::uint32_t block) noexcept { words_[block / 64] &= ~(std::uint64_t{1} << (block % 64)); }
  void clear() noexcept { std::fill(words_.begin(), words_.end(), 0); }

  std::uint64_t bytes() const noexcept { return words_.capacity() * sizeof(std::uint64_t); }

 private:
  table<std::uint64_t> words_;
};

}  // namespace heddle::sim

// Who may hold a copy of a line: what a write must look at.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/cache_index.hpp"
#include "sim/huge_pages.hpp"

namespace heddle::sim {

// A word of 32 bits for each block of touched memory, in a table indexed by block number (frames are dense): nobody, one
// path, or the number of a bit set of paths in a pool. A path is a way from an innermost cache to memory.
//
// The entry of a block includes every path with a copy in one of its caches. It may name more: an eviction tells nothing,
// so the caches named are looked up when the block is written. That keeps reads of a line that is found, and evictions, free
// of charge; exactness is not lost, since the look-up in the cache decides.
class cache_directory {
 public:
  explicit cache_directory(unsigned paths);

  // Makes entries up to block `last`. Must precede the others' use of them.
  void cover(std::uint32_t last);

  // `path` has read the block. Noted, and entered when `delay` more have been noted or before something is written: the table is
  // larger than the caches under it, and meanwhile the entry comes from memory.
  void add(std::uint32_t block, unsigned path) {
    note& oldest = notes_[next_ % delay];
    if (next_ - entered_ == delay) {
      enter(oldest);
      ++entered_;
    }
    oldest = {block, path};
    ++next_;
    __builtin_prefetch(&entry_of(block), 1);
  }

  // Announces take(block): the entry is fetched meanwhile.
  void prefetch(std::uint32_t block) { __builtin_prefetch(&entry_of(block), 1); }
  // `path` writes the block: calls other(q) for each other path that may have it, in ascending order, and leaves `path` alone.
  template <class Other>
  void take(std::uint32_t block, unsigned path, Other&& other) {
    enter_all();
    std::uint32_t& entry = entry_of(block);
    if (entry == path + 1) return;
    for_each_but(entry, path, other);
    release(entry);
    entry = path + 1;
  }
  // The block is no more: calls other(q) for every path that may have it.
  template <class Other>
  void drop(std::uint32_t block, Other&& other) {
    enter_all();
    std::uint32_t& entry = entry_of(block);
    for_each_but(entry, ~0u, other);
    release(entry);
    entry = nobody;
  }

  std::uint64_t bytes() const noexcept;

 private:
  static constexpr std::uint32_t nobody = 0;
  static constexpr std::uint32_t several = std::uint32_t{1} << 31;   // the rest is a number of a set
  static constexpr std::uint32_t delay = 32;
  static constexpr unsigned chunk_bits = 19;   // 2 MB

  std::uint32_t& entry_of(std::uint32_t block) { return chunks_[block >> chunk_bits][block & ((1u << chunk_bits) - 1)]; }
  struct note {
    std::uint32_t block;
    unsigned path;
  };
  void enter(note n) {
    std::uint32_t& entry = entry_of(n.block);
    if (entry == n.path + 1) return;
    if (entry == nobody) entry = n.path + 1;
    else add_further(entry, n.path);
  }
  void enter_all() {
    for (; entered_ != next_; ++entered_) enter(notes_[entered_ % delay]);
  }
  void add_further(std::uint32_t& entry, unsigned path);
  void release(std::uint32_t entry) {
    if ((entry & several) != 0) free_.push_back(entry & ~several);
  }
  template <class Other>
  void for_each_but(std::uint32_t entry, unsigned path, Other& other) {
    if (entry == nobody) return;
    if ((entry & several) == 0) {
      if (entry != path + 1) other(entry - 1);
      return;
    }
    const std::uint64_t* const set = sets_.data() + std::size_t{entry & ~several} * words_;
    for (unsigned word = 0; word < words_; ++word) {
      for (std::uint64_t left = set[word]; left != 0; left &= left - 1) {
        const unsigned q = word * 64 + static_cast<unsigned>(__builtin_ctzll(left));
        if (q != path) other(q);
      }
    }
  }

  unsigned words_;                                   // of a set
  std::uint32_t next_{0}, entered_{0};               // notes in [entered_, next_) wait
  std::array<note, delay> notes_{};
  std::vector<table<std::uint32_t>> chunks_;
  table<std::uint64_t> sets_;
  std::vector<std::uint32_t> free_;                  // sets that no entry names
};

}  // namespace heddle::sim

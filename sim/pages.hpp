// The map from addresses to frames. Frames are taken in the order of first touch. So a program's addresses, which
// differ from run to run, have no influence on caches, channels or nodes. (The place of a byte in its page has.) Frame
// numbers are scattered, as an operating system's are. Otherwise pages that many cores touch one after the other would
// give each core frames at a fixed distance, which share few sets of its caches. How they are scattered depends on a
// seed: some placements lose lines of a set that others keep, so runs with several seeds show how much that matters.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace heddle::sim {

enum class page_policy : std::uint8_t { first_touch, interleave, bind };

class page_table {
 public:
  using frame_number = std::uint32_t;

  // Frames are numbered below `max_frames`, nodes below `nodes`. Numbers are scattered in groups of 1 << scatter_bits,
  // and are dense except in the last group.
  page_table(unsigned nodes, std::uint64_t max_frames, unsigned scatter_bits = 0, std::uint64_t seed = 0);

  // The number of the frame that is the `n`th to be taken. It is a bijection of each group of 1 << bits onto itself,
  // which no stride survives. It consists of an addition, multiplications by odd numbers, and exclusive-ors that are
  // shifted or with a constant, each of them a bijection. The constants come from the seed and the group.
  static constexpr frame_number scattered(frame_number n, unsigned bits, std::uint64_t seed) noexcept {
    const frame_number mask = (frame_number{1} << bits) - 1;
    const unsigned shift = bits / 2 + 1;
    const frame_number key = key_of(n >> bits, seed);
    frame_number x = n + key;
    x = ((x & mask) * 0x85EBCA6Bu) & mask;
    x ^= x >> shift;
    x = ((x ^ (key >> bits)) * 0xC2B2AE35u) & mask;
    x ^= x >> shift;
    x = (x * 0x27D4EB2Fu) & mask;
    return (n & ~mask) | (x ^ (x >> shift));
  }

  // The frame of a page, by the page's number (address / page size); made if there is none. `near` is the node of the
  // core that asks. Throws std::length_error if there are no more frames.
  frame_number frame_of(std::uint64_t page, unsigned near) {
    const std::uint64_t number = page >> leaf_bits;
    const recent& slot = recent_[number % recent_.size()];
    leaf& pages = slot.number == number ? *slot.pages : leaf_of(number);
    const frame_number entry = pages[page & (leaf_pages - 1)];
    return entry != absent ? entry : make(page, near);
  }
  unsigned node_of(frame_number frame) const noexcept { return nodes_of_frames_[frame]; }
  frame_number frames() const noexcept { return taken_; }
  std::uint64_t pages_on(unsigned node) const noexcept { return pages_on_[node]; }

  // Pages [first, last] that are made from this call on follow `policy`. Interleaving starts at node 0 with page
  // `first`.
  void place(std::uint64_t first, std::uint64_t last, page_policy policy, unsigned node);
  // Removes pages [first, last] and their rules of place(). Calls gone(frame) for each page that existed. Their frames
  // are used again.
  template <class Gone>
  void forget(std::uint64_t first, std::uint64_t last, Gone&& gone) {
    cut_rules(first, last);
    for (auto at = leaves_.lower_bound(first >> leaf_bits); at != leaves_.end() && at->first <= last >> leaf_bits;
         ++at) {
      const std::uint64_t base = at->first << leaf_bits;
      for (std::uint64_t i = base < first ? first - base : 0; i < leaf_pages && i <= last - base; ++i) {
        frame_number& entry = (*at->second)[i];
        if (entry == absent) continue;
        gone(entry);
        --pages_on_[nodes_of_frames_[entry]];
        free_.push_back(entry);
        entry = absent;
      }
    }
  }

  std::uint64_t bytes() const noexcept;

 private:
  // The finaliser of splitmix64.
  static constexpr frame_number key_of(frame_number group, std::uint64_t seed) noexcept {
    std::uint64_t x = seed * 0x9E3779B97F4A7C15u + group * 0xD1B54A32D192ED03u + 0x632BE59BD9B4E019u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return static_cast<frame_number>(x ^ (x >> 31));
  }

  static constexpr unsigned leaf_bits = 12;
  static constexpr std::uint64_t leaf_pages = std::uint64_t{1} << leaf_bits;
  static constexpr frame_number absent = ~0u;
  using leaf = std::array<frame_number, leaf_pages>;
  struct recent {
    std::uint64_t number{~std::uint64_t{0}};
    leaf* pages{nullptr};
  };
  struct rule {
    std::uint64_t last;
    std::uint64_t origin;  // the first page of place()'s range
    page_policy policy;
    unsigned node;
  };

  leaf& leaf_of(std::uint64_t number);
  frame_number make(std::uint64_t page, unsigned near);
  unsigned node_for(std::uint64_t page, unsigned near) const;
  void cut_rules(std::uint64_t first, std::uint64_t last);

  std::uint64_t max_frames_;
  unsigned scatter_bits_;
  std::uint64_t seed_;
  frame_number taken_{0};
  // Ordered, because forget() frees in the order of pages.
  std::map<std::uint64_t, std::unique_ptr<leaf>> leaves_;
  std::array<recent, 64> recent_;  // leaves, by number
  std::vector<std::uint8_t> nodes_of_frames_;
  std::vector<frame_number> free_;
  std::vector<std::uint64_t> pages_on_;
  std::map<std::uint64_t, rule> rules_;  // by first page; disjoint
};

}  // namespace heddle::sim

// The path that has modified a block, and the copies that a write removes from caches that are not on the writer's
// path. The directory says which paths to look through; the look-up in the cache decides.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "sim/cache_directory.hpp"
#include "sim/cache_tree.hpp"
#include "sim/stale_memory.hpp"

namespace heddle::sim {

// Lines are the model's; a path is named by its number. On a machine with one path only modified blocks are recorded.
//
// A block is in one of three states. *Modified by a path*: memory is stale and the path is the only one entered in the
// directory; it has written the block, and no other path has asked for it since. *Shared*: memory is stale, and more
// than one path is entered. *Clean*: memory is not stale. The first cache of a last level that loses the block writes
// it back; it is clean then.
class coherence {
 public:
  static constexpr unsigned nobody = cache_directory::nobody;

  explicit coherence(const cache_tree& caches)
      : caches_(caches), directory_(static_cast<unsigned>(caches.paths().size())), needed_(caches.paths().size() > 1) {}

  // Makes entries for lines below `end`, which may occur from this call on.
  void cover(std::uint64_t end) {
    if (end <= covered_) return;
    covered_ = end;
    const std::uint64_t last = (end - 1) >> caches_.block_shift();
    stale_.cover(last + 1);
    if (needed_) directory_.cover(static_cast<std::uint32_t>(last));
  }

  // Fetches directory entries into the cache of the host machine.
  void fetch(line_number line) {
    stale_.fetch(block_of(line));
    if (needed_) directory_.prefetch(block_of(line));
  }
  void fetch(line_number first, line_number last) {
    if (needed_) directory_.prefetch(block_of(first), block_of(last));
  }
  // The same for the sets at which invalidate_others() will look; the line's entry must have come.
  void fetch_copies(line_number line, unsigned path);

  // Called when a cache of the path took the line in. `entry_came`: the entry was requested in time.
  void add(line_number line, unsigned path, bool entry_came) {
    if (!needed_) return;
    if (entry_came) directory_.add(block_of(line), path);
    else directory_.add_later(block_of(line), path);
  }
  // The path that has modified the block, if it is another one than `path` and one of its caches that are not on `path`
  // still has the line; else nobody. Must be called before add() of the same line.
  unsigned owner_apart(line_number line, unsigned path) {
    return needed_ && stale_.has(block_of(line)) ? look_for_owner(line, path) : nobody;
  }
  // Whether another path has asked for the block since it was last written.
  bool is_shared(line_number line, unsigned path) { return needed_ && directory_.has_other(block_of(line), path); }
  // Called when the last cache of the path does not have the line. Returns a path that shares this cache and has a copy
  // inside it; else nobody. Paths that turn out to have no copy are no longer entered.
  unsigned copy_beside(line_number line, unsigned path) {
    return is_shared(line, path) ? look_for_copy(line, path) : nobody;
  }
  // Called for a write on this path. Returns whether there are no copies to remove; the block is modified by the path
  // then.
  [[gnu::always_inline]] bool modify_alone(line_number line, unsigned path) {
    const std::uint32_t block = block_of(line);
    if (needed_ && !directory_.has_alone(block, path)) return false;
    stale_.set(block);
    return true;
  }
  // Called when memory is asked for the line, or a cache of the last level loses it. Returns whether memory has to be
  // written to have the present value. It has that value afterwards.
  bool write_back(line_number line) {
    const std::uint32_t block = block_of(line);
    if (!stale_.has(block)) return false;
    stale_.reset(block);
    return true;
  }
  // A write on this path removes all other copies, and the block is modified by it. Calls removed(path, step, copies)
  // for each cache that was looked through.
  template <class Removed>
  [[gnu::always_inline]] void invalidate_others(line_number line, unsigned path, Removed&& removed) {
    const std::uint32_t block = block_of(line);
    stale_.set(block);
    directory_.take(block, path, in_others(path, [&](unsigned other, const cache_step& step) {
                      removed(other, step, remove_copies(step, block));
                    }));
  }
  // Called when no cache has a copy of the lines [first, end) any more; these are whole blocks.
  void forget(std::uint64_t first, std::uint64_t end);
  // Called when the caches are empty, and memory has what they had.
  void flushed() { stale_.clear(); }

  std::uint32_t block_of(line_number line) const noexcept { return line >> caches_.block_shift(); }
  std::uint64_t bytes() const noexcept { return directory_.bytes() + stale_.bytes(); }

 private:
  unsigned look_for_owner(line_number line, unsigned path);
  unsigned look_for_copy(line_number line, unsigned path);

  // Calls look(path, step) for each cache that is not on the path and may have a copy of the block. The paths through a
  // cache come one after the other.
  template <class Look>
  auto in_others(unsigned path_number, Look&& look) {
    return [this, path_number, look = std::forward<Look>(look),
            before = std::array<const cache*, cache_path::max_depth>{}](unsigned other) mutable {
      const cache_path& path = caches_.paths()[other];
      const unsigned apart = caches_.apart(path_number, other);
      for (unsigned i = 0; i < apart; ++i) {
        if (std::exchange(before[i], path.steps[i].where) != path.steps[i].where) look(other, path.steps[i]);
      }
    };
  }
  [[gnu::always_inline]] unsigned remove_copies(const cache_step& step, std::uint32_t block) {
    // the number of lines of this cache in a block is 1 << bits
    const unsigned bits = caches_.block_shift() - step.shift;
    if (bits == 0) return step.where->remove(block) ? 1 : 0;
    unsigned removed = 0;
    for (std::uint32_t i = 0; i < 1u << bits; ++i) removed += step.where->remove_seldom((block << bits) + i) ? 1 : 0;
    return removed;
  }

  const cache_tree& caches_;
  cache_directory directory_;
  stale_memory stale_;
  const bool needed_;  // whether there are several paths, so that writes must look at others
  std::uint64_t covered_{0};
};

[[gnu::always_inline]] inline void coherence::fetch_copies(line_number line, unsigned path) {
  directory_.for_others(block_of(line), path, in_others(path, [&](unsigned, const cache_step& step) {
                          step.where->prefetch(line >> step.shift);
                        }));
}

}  // namespace heddle::sim

#include "sim/coherence.hpp"

namespace heddle::sim {

void coherence::forget(std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t line = first; line < end; line += 1u << caches_.block_shift()) {
    const auto block = static_cast<std::uint32_t>(line >> caches_.block_shift());
    const auto remove_from = [&](unsigned path_number) {
      const cache_path& path = caches_.paths()[path_number];
      for (unsigned i = 0; i < path.depth; ++i) remove_copies(path.steps[i], block);
    };
    stale_.reset(block);
    if (needed_) directory_.drop(block, remove_from);
    else remove_from(0);
  }
}

unsigned coherence::look_for_owner(line_number line, unsigned path) {
  const unsigned owner = directory_.alone(block_of(line));
  if (owner == nobody || owner == path) return nobody;
  const cache_path& way = caches_.paths()[owner];
  for (unsigned i = 0; i < caches_.apart(path, owner); ++i) {
    if (way.steps[i].where->contains(line >> way.steps[i].shift)) return owner;
  }
  return nobody;
}

// The caches that both paths share do not have the line. So if a path without a copy of its own is dropped, nothing is
// missing in the directory.
unsigned coherence::look_for_copy(line_number line, unsigned path) {
  const std::uint32_t block = block_of(line);
  const bool whole_block = caches_.block_shift() == 0;  // else other lines of the block may be there
  unsigned found = nobody;
  directory_.for_others(block, path, [&](unsigned other) {
    const cache_path& way = caches_.paths()[other];
    const unsigned apart = caches_.apart(path, other);
    if (apart == way.depth || found != nobody) return;
    for (unsigned i = 0; i < apart; ++i) {
      if (way.steps[i].where->contains(line >> way.steps[i].shift)) found = other;
    }
    if (found == nobody && whole_block) directory_.remove(block, other);
  });
  return found;
}

}  // namespace heddle::sim

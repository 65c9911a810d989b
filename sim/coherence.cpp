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

}  // namespace heddle::sim

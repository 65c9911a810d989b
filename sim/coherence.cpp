#include "sim/coherence.hpp"

namespace heddle::sim {

void coherence::forget(std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t line = first; line < end; line += 1u << caches_.block_shift()) {
    const auto block = static_cast<std::uint32_t>(line >> caches_.block_shift());
    const auto remove_from = [&](unsigned path_number) {
      const cache_path& path = caches_.paths()[path_number];
      for (unsigned i = 0; i < path.depth; ++i) remove_copies(path.steps[i], block);
    };
    if (needed_) directory_.drop(block, remove_from);
    else remove_from(0);
  }
}

}  // namespace heddle::sim

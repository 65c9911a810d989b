#include "sim/cache_directory.hpp"

namespace heddle::sim {

cache_directory::cache_directory(unsigned paths) : words_((paths + 63) / 64) {}

void cache_directory::cover(std::uint32_t last) {
  while (chunks_.size() <= (last >> chunk_bits)) {
    chunks_.emplace_back((std::size_t{1} << chunk_bits) * words_, 0);
    first_of_.push_back(chunks_.back().data());
  }
}

std::uint64_t cache_directory::bytes() const noexcept {
  return chunks_.size() * (sizeof(std::uint64_t) << chunk_bits) * words_;
}

}  // namespace heddle::sim

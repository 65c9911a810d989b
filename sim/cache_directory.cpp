#include "sim/cache_directory.hpp"

#include <algorithm>

namespace heddle::sim {

cache_directory::cache_directory(unsigned paths) : words_((paths + 63) / 64) {}

void cache_directory::cover(std::uint32_t last) {
  while (chunks_.size() <= (last >> chunk_bits)) {
    chunks_.emplace_back(std::size_t{1} << chunk_bits, nobody);
  }
}

void cache_directory::add_further(std::uint32_t& entry, unsigned path) {
  if ((entry & several) == 0) {
    const unsigned first = entry - 1;
    std::uint32_t number;
    if (free_.empty()) {
      number = static_cast<std::uint32_t>(sets_.size() / words_);
      sets_.resize(sets_.size() + words_);
    } else {
      number = free_.back();
      free_.pop_back();
      std::fill_n(sets_.begin() + static_cast<std::ptrdiff_t>(std::size_t{number} * words_), words_, 0);
    }
    entry = several | number;
    sets_[std::size_t{number} * words_ + first / 64] |= std::uint64_t{1} << (first % 64);
  }
  sets_[std::size_t{entry & ~several} * words_ + path / 64] |= std::uint64_t{1} << (path % 64);
}

std::uint64_t cache_directory::bytes() const noexcept {
  return chunks_.size() * (sizeof(std::uint32_t) << chunk_bits) + sets_.capacity() * sizeof(std::uint64_t) +
         free_.capacity() * sizeof(std::uint32_t);
}

}  // namespace heddle::sim

#include "sim/cache.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace heddle::sim {

cache_shape cache_shape::of(std::uint64_t capacity, unsigned line_size, int associativity) {
  const std::uint64_t lines = std::max<std::uint64_t>(1, capacity / line_size);
  if (lines >= no_line) throw std::invalid_argument("a cache of more than 2^32 lines cannot be modelled");
  constexpr std::uint64_t unknown = 8;
  const std::uint64_t wanted = associativity < 0    ? lines
                               : associativity == 0 ? unknown
                                                    : static_cast<std::uint64_t>(associativity);
  const std::uint64_t ways = std::min(wanted, lines);
  return {static_cast<std::uint32_t>(lines / ways), static_cast<std::uint32_t>(ways)};
}

cache::cache(cache_shape shape, line_number* storage)
    : shape_(shape),
      stride_(padded(shape.ways)),
      mask_(std::has_single_bit(shape.sets) ? shape.sets - 1 : no_mask),
      inverse_(~std::uint64_t{0} / shape.sets + 1),
      sets_(storage) {
  if (shape.ways > scanned_ways) index_ = std::make_unique<cache_index>(shape.sets, shape.ways);
  if (index_ == nullptr && storage == nullptr) {
    own_.resize(storage_for(shape));
    sets_ = own_.data();
  }
  clear();
}

bool cache::contains(line_number line) const {
  if (index_ != nullptr) return index_->contains(line);
  const line_number* const set = set_at(line);
  return set_scan::with_quads(stride_ / 4, [&]<unsigned Quads>() { return set_scan::contains<Quads>(set, line); });
}

void cache::clear() {
  if (index_ != nullptr) index_->clear();
  else std::fill_n(sets_, storage_for(shape_), no_line);
}

}  // namespace heddle::sim

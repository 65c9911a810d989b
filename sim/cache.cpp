#include "sim/cache.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace heddle::sim {

namespace {

// Vectors of the compiler, may_alias: the sets are line numbers.
typedef std::uint32_t quad __attribute__((vector_size(16), may_alias));
typedef std::uint64_t pair __attribute__((vector_size(16)));

}  // namespace

cache_shape cache_shape::of(std::uint64_t capacity, unsigned line_size, int associativity) {
  const std::uint64_t lines = std::max<std::uint64_t>(1, capacity / line_size);
  if (lines >= no_line) throw std::invalid_argument("a cache of more than 2^32 lines cannot be modelled");
  constexpr std::uint64_t unknown = 8;
  const std::uint64_t wanted = associativity < 0 ? lines : associativity == 0 ? unknown : static_cast<std::uint64_t>(associativity);
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

// The set is compared as a whole before anything moves: no branch depends on where the line is, so the processor that simulates can be
// several accesses ahead while the set comes from its memory.
bool cache::shift_in(line_number* set, line_number line) {
  auto* const blocks = reinterpret_cast<quad*>(set);
  const std::uint32_t count = stride_ / 4;
  const quad wanted = {line, line, line, line};
  quad equal = {};
  for (std::uint32_t b = 0; b < count; ++b) equal |= static_cast<quad>(blocks[b] == wanted);
  const auto halves = reinterpret_cast<pair>(equal);
  if ((halves[0] | halves[1]) != 0) {
    line_number carried = line;
    for (std::uint32_t way = 0; carried != line || way == 0; ++way) std::swap(carried, set[way]);
    return true;
  }
  quad before = wanted;
  for (std::uint32_t b = 0; b < count; ++b) {
    const quad here = blocks[b];
    blocks[b] = __builtin_shufflevector(before, here, 3, 4, 5, 6);
    before = here;
  }
  if (stride_ != shape_.ways) set[shape_.ways] = no_line;
  return false;
}

bool cache::remove(line_number line) {
  if (index_ != nullptr) return index_->remove(line, set_of(line));
  line_number* const set = set_at(line);
  line_number* const end = set + shape_.ways;
  line_number* const found = std::find(set, end, line);
  if (found == end) return false;
  std::copy(found + 1, end, found);
  end[-1] = no_line;
  return true;
}

bool cache::contains(line_number line) const {
  if (index_ != nullptr) return index_->contains(line);
  const line_number* const set = set_at(line);
  return std::find(set, set + shape_.ways, line) != set + shape_.ways;
}

void cache::clear() {
  if (index_ != nullptr) index_->clear();
  else std::fill_n(sets_, storage_for(shape_), no_line);
}

}  // namespace heddle::sim

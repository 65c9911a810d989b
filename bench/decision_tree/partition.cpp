#include "partition.hpp"

#include "../harness/cost.hpp"

#include <algorithm>
#include <cstring>

namespace heddle::bench::decision_tree {

namespace {

// This has no branch, because a predictor cannot know which side a row takes. Returns the number of rows that went
// left.
template <std::size_t Stride>
std::size_t scatter_fixed(std::size_t any_stride, std::uint8_t const* rows, std::size_t count, split const& cut,
                          std::uint8_t* left, std::uint8_t* right) {
  std::size_t const stride = Stride != 0 ? Stride : any_stride;
  std::uint32_t const bin = cut.bin;
  std::uint8_t const* const key = rows + cut.feature;
  std::size_t gone_left = 0;                                  // bytes
  auto const apart = static_cast<std::size_t>(right - left);  // modulo 2^64: either may come first
  for (std::size_t at = 0; at < count * stride; at += stride) {
    std::size_t const goes_right = key[at] > bin ? ~std::size_t{0} : 0;
    // The rows that went right are the rows before this row that did not go left.
    std::size_t const to = gone_left + ((apart + at - 2 * gone_left) & goes_right);
    std::memcpy(left + to, rows + at, stride);
    gone_left += stride & ~goes_right;
  }
  return gone_left / stride;
}

}  // namespace

std::size_t count_left(row_layout layout, std::uint8_t const* rows, std::size_t count, split const& cut) {
  if (told::model() != nullptr) [[unlikely]] {
    told::read(rows, count * layout.stride);
    told::cycles(2 * static_cast<double>(count));
  }
  std::uint8_t const* key = rows + cut.feature;
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i, key += layout.stride) found += *key <= cut.bin;
  return found;
}

void scatter(row_layout layout, std::uint8_t const* rows, std::size_t count, split const& cut, std::uint8_t* left,
             std::uint8_t* right) {
  std::size_t const gone = layout.stride == 32 ? scatter_fixed<32>(32, rows, count, cut, left, right)
                                               : scatter_fixed<0>(layout.stride, rows, count, cut, left, right);
  if (told::model() != nullptr) [[unlikely]] {
    // This is done afterwards, because only then is the number of rows on each side known. It is done in steps, as if
    // the sides took turns evenly.
    constexpr std::size_t step = 1024;
    for (std::size_t at = 0; at < count; at += step) {
      std::size_t const end = std::min(count, at + step);
      std::size_t const left_from = gone * at / count, left_to = gone * end / count;
      told::read(rows + at * layout.stride, (end - at) * layout.stride);
      told::write(left + left_from * layout.stride, (left_to - left_from) * layout.stride);
      told::write(right + (at - left_from) * layout.stride, (end - at - (left_to - left_from)) * layout.stride);
    }
    told::cycles(5 * static_cast<double>(count));
  }
}

}  // namespace heddle::bench::decision_tree

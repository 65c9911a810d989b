#include "partition.hpp"

#include <cstring>

namespace heddle::bench::decision_tree {

namespace {

// No branch: which side a row takes is what the tree does not know yet, so a predictor does not either.
template <std::size_t Stride>
void scatter_fixed(std::size_t any_stride, std::uint8_t const* rows, std::size_t count, split const& cut, std::uint8_t* left, std::uint8_t* right) {
    std::size_t const stride = Stride != 0 ? Stride : any_stride;
    std::uint32_t const bin = cut.bin;
    std::uint8_t const* const key = rows + cut.feature;
    std::size_t gone_left = 0;                                 // bytes
    auto const apart = static_cast<std::size_t>(right - left);  // modulo 2^64: either may come first
    for (std::size_t at = 0; at < count * stride; at += stride) {
        std::size_t const goes_right = key[at] > bin ? ~std::size_t{0} : 0;
        // The rows gone right are those before this one that did not go left.
        std::size_t const to = gone_left + ((apart + at - 2 * gone_left) & goes_right);
        std::memcpy(left + to, rows + at, stride);
        gone_left += stride & ~goes_right;
    }
}

}  // namespace

std::size_t count_left(row_layout layout, std::uint8_t const* rows, std::size_t count, split const& cut) {
    std::uint8_t const* key = rows + cut.feature;
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i, key += layout.stride) found += *key <= cut.bin;
    return found;
}

void scatter(row_layout layout, std::uint8_t const* rows, std::size_t count, split const& cut, std::uint8_t* left, std::uint8_t* right) {
    if (layout.stride == 32) {
        scatter_fixed<32>(32, rows, count, cut, left, right);
    } else {
        scatter_fixed<0>(layout.stride, rows, count, cut, left, right);
    }
}

}  // namespace heddle::bench::decision_tree

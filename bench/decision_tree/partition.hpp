// Division of rows by a cut, from one buffer into another, both sides in their old order.
#pragma once

#include "binning.hpp"
#include "histogram.hpp"

#include <cstddef>
#include <cstdint>

namespace heddle::bench::decision_tree {

// How many of the rows go left.
[[nodiscard]] std::size_t count_left(row_layout layout, std::uint8_t const* rows, std::size_t count, split const& cut);

// Copies the rows that go left to `left` onwards, the others to `right` onwards.
void scatter(row_layout layout, std::uint8_t const* rows, std::size_t count, split const& cut, std::uint8_t* left,
             std::uint8_t* right);

}  // namespace heddle::bench::decision_tree

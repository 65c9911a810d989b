// Seeded data of the form of HIGGS: 21 measured features of five objects (momentum, two angles, tags) and a missing
// momentum, then 7 derived ones (masses of pairs), and a class that depends on them through products, wrapped angles
// and windows, so that no single cut and no linear rule finds it. Part of the labels is noise.
#pragma once

#include "dataset.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace heddle::bench::decision_tree {

inline constexpr std::size_t generated_features = 28;

struct generated_row {
  std::array<float, generated_features> features;
  std::uint8_t label;
};

// Returns row `row` of the endless table that `seed` names. It is a pure function of its arguments, computed in
// integers with one exact conversion to float at the end. So it is the same on every platform and compiler, and for
// every order of rows.
[[nodiscard]] generated_row generate_row(std::uint64_t seed, std::uint64_t row);

// Rows [first, last) of the table into the same rows of `into`, which has been resized to hold them. Calls for disjoint
// ranges may run at the same time.
void generate_rows(std::uint64_t seed, std::size_t first, std::size_t last, dataset& into);

}  // namespace heddle::bench::decision_tree

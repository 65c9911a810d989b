// Annotations of what a piece of code costs on a modelled machine. Outside `heddle sim` each call is one load and one
// branch.
#pragma once

#include <cstddef>
#include <initializer_list>

#include <heddle/detail/cost_model.hpp>

namespace heddle::cost {

namespace detail {
// A program that includes this header declares its costs. Code that it does not annotate is then free, so that runs are
// deterministic.
inline const bool declared = (heddle_cost_declare(), true);
}  // namespace detail

// Counts arithmetic that takes n cycles of the machine's fastest core. Thread context: any; may be a scheduling point
// of the simulator.
inline void cycles(double n) {
  if (const auto* to = heddle::detail::cost_model(); to != nullptr) [[unlikely]]
    to->cycles(n);
}
// Says that the calling thread reads or writes all of [address, address + bytes), once, in order.
inline void read(const void* address, std::size_t bytes) {
  if (const auto* to = heddle::detail::cost_model(); to != nullptr) [[unlikely]]
    to->access(address, bytes, 0);
}
inline void write(const void* address, std::size_t bytes) {
  if (const auto* to = heddle::detail::cost_model(); to != nullptr) [[unlikely]]
    to->access(address, bytes, 1);
}
// Says that the calling thread reads or writes `count` rows of one or several matrices. Each matrix is given as {first
// row, bytes of a row, bytes from row to row, 1 if written}. The order is the first row of each matrix, then the second
// row of each, and so on. The cache misses overlap like those of one range, which is right for code whose addresses do
// not depend on the data that it reads.
using row_set = heddle_cost_rows;
inline void rows(std::initializer_list<row_set> sets, std::size_t count) {
  if (const auto* to = heddle::detail::cost_model(); to != nullptr) [[unlikely]]
    to->rows(sets.begin(), sets.size(), count);
}
// Returns true in the fast mode of the simulator. The code may then skip the arithmetic whose cost it has declared; its
// results are not checked.
inline bool only() {
  const auto* to = heddle::detail::cost_model();
  return to != nullptr && to->only != 0;
}

}  // namespace heddle::cost

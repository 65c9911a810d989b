// What a piece of code costs on a modelled machine. Outside `heddle sim` each call is one load and one branch.
#pragma once

#include <cstddef>
#include <initializer_list>

#include <heddle/detail/cost_model.hpp>

namespace heddle::cost {

namespace detail {
// A program that includes this header tells its costs: what it does
// not annotate is then free, so that runs are deterministic.
inline const bool declared = (heddle_cost_declare(), true);
}  // namespace detail

// Arithmetic that takes n cycles of the machine's fastest core. Any
// context; may be a scheduling point of the simulator.
inline void cycles(double n) {
  if (const auto* to = heddle::detail::cost_model(); to != nullptr) [[unlikely]]
    to->cycles(n);
}
// The calling thread reads or writes all of [address, address + bytes), once, in order.
inline void read(const void* address, std::size_t bytes) {
  if (const auto* to = heddle::detail::cost_model(); to != nullptr) [[unlikely]]
    to->access(address, bytes, 0);
}
inline void write(const void* address, std::size_t bytes) {
  if (const auto* to = heddle::detail::cost_model(); to != nullptr) [[unlikely]]
    to->access(address, bytes, 1);
}
// Reads or writes `count` rows of a matrix, or of several side by side, each given as {first row, bytes of a row, bytes
// from row to row, 1 if written}: the first row of each, then the second of each, and so on. Their cache misses overlap
// as those of one range do, which is right for code whose addresses do not depend on what it reads.
using row_set = heddle_cost_rows;
inline void rows(std::initializer_list<row_set> sets, std::size_t count) {
  if (const auto* to = heddle::detail::cost_model(); to != nullptr) [[unlikely]]
    to->rows(sets.begin(), sets.size(), count);
}
// True in the fast mode of the simulator: code may skip the arithmetic whose cost it has told. Its results are then not
// checked.
inline bool only() {
  const auto* to = heddle::detail::cost_model();
  return to != nullptr && to->only != 0;
}

}  // namespace heddle::cost

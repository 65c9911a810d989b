// Where in a range the work of a loop lies, so that a range is cut into halves of equal work and not of equal length:
// [site:4] of src/loop/sites.md. Source: the adaptive grid of VEGAS (Lepage, Journal of Computational Physics 27,
// 1978).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <heddle/export.hpp>

namespace heddle::detail {

// A range in cells that are expected to take equally long.
inline constexpr unsigned profile_cells = 16;

class loop_profile;

// What a site remembers of it. Every field is a hint: relaxed, written by whoever has measured a loop.
class loop_grid {
 public:
  // True: as far as is known, equal parts of the range take equally long.
  bool is_even() const noexcept { return !skewed_.load(std::memory_order_relaxed); }  // a hint

  // A loop was measured. True: its work lay elsewhere than expected, and the next loop should be measured, too. What
  // two measured loops in a row agree on is believed; what one alone says may be the kernel's doing.
  HEDDLE_API bool learn(const loop_profile& seen) noexcept;

 private:
  friend class loop_profile;
  using shares = std::array<float, profile_cells>;  // of the loop's time

  static bool is_level(const shares& of) noexcept;
  void move_borders(const shares& work) noexcept;
  double border(unsigned k) const noexcept;

  std::atomic<bool> skewed_{false};
  std::atomic<bool> doubted_{false};                                 // before_ has the last loop's shares
  std::array<std::atomic<float>, profile_cells> before_{};           // of the cells that the borders still have
  std::array<std::atomic<std::uint32_t>, profile_cells> borders_{};  // of [1, 16): in 2^-32 of the range, once skewed
};

// Of one loop of n iterations. Nothing of it is set before `begin`: loops that need no profile do not pay for it.
class loop_profile {
 public:
  loop_profile() noexcept {}  // not `= default`: the arrays shall not be cleared

  HEDDLE_API void begin(const loop_grid& grid, std::size_t n) noexcept;

  // [low, high), of at least two iterations, in two parts of equal work. Neither is empty.
  HEDDLE_API std::size_t middle(std::size_t low, std::size_t high) const noexcept;

  // A batch took so long. By any worker that runs a part of the loop.
  HEDDLE_API void add(std::size_t low, std::size_t high, std::uint64_t cycles) noexcept;

 private:
  friend class loop_grid;

  unsigned cell_of(double position) const noexcept;
  double work_before(double position) const noexcept;  // in cells

  std::array<double, profile_cells + 1> border_;   // in iterations: 0 .. n, ascending
  std::array<std::uint64_t, profile_cells> took_;  // cycles; through atomic_ref, relaxed, read after all joins
};

}  // namespace heddle::detail

// The profile of a loop: where in its range the work lies. With it a range is cut into halves of equal work instead of
// equal length: [site:4] of src/loop/sites.md. Source: the adaptive grid of VEGAS (Lepage, Journal of Computational
// Physics 27, 1978).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <heddle/export.hpp>

namespace heddle::detail {

// The number of cells of a range. All cells are expected to take equally long.
inline constexpr unsigned profile_cells = 16;

class loop_profile;

// The part of the profile that a site remembers. Every field is a hint: relaxed, written by any worker that has
// measured a loop.
class loop_grid {
 public:
  // Returns true if, as far as is known, equal parts of the range take equally long.
  bool is_even() const noexcept { return !skewed_.load(std::memory_order_relaxed); }  // a hint

  // Learns from a measured loop. Returns true if its work lay elsewhere than expected, so that the next loop should be
  // measured, too. A change is believed if two measured loops in a row agree on it, because the kernel may have caused
  // what a single loop shows.
  HEDDLE_API bool learn(const loop_profile& seen) noexcept;

 private:
  friend class loop_profile;
  using shares = std::array<float, profile_cells>;  // of the loop's time

  static bool is_level(const shares& of) noexcept;
  void move_borders(const shares& work) noexcept;
  double border(unsigned k) const noexcept;

  std::atomic<bool> skewed_{false};
  std::atomic<bool> doubted_{false};                                 // true if before_ has the last loop's shares
  std::array<std::atomic<float>, profile_cells> before_{};           // of the cells between the present borders
  std::array<std::atomic<std::uint32_t>, profile_cells> borders_{};  // of [1, 16), in 2^-32 of the range, once skewed
};

// The profile of one loop of n iterations. No field is set before `begin`, so loops that need no profile do not pay for
// it.
class loop_profile {
 public:
  loop_profile() noexcept {}  // not `= default`, because the arrays must not be cleared

  HEDDLE_API void begin(const loop_grid& grid, std::size_t n) noexcept;

  // Returns the border that cuts [low, high), which has at least two iterations, into two parts of equal work. Neither
  // part is empty.
  HEDDLE_API std::size_t middle(std::size_t low, std::size_t high) const noexcept;

  // Records the time of a batch. Any worker that runs a part of the loop may call it.
  HEDDLE_API void add(std::size_t low, std::size_t high, std::uint64_t cycles) noexcept;

 private:
  friend class loop_grid;

  unsigned cell_of(double position) const noexcept;
  double work_before(double position) const noexcept;  // in cells

  std::array<double, profile_cells + 1> border_;  // in iterations: from 0 to n, ascending
  // Cycles; accessed through atomic_ref, relaxed, and read after all joins.
  std::array<std::uint64_t, profile_cells> took_;
};

}  // namespace heddle::detail

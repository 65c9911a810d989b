/// Parallel loops over two, three and more dimensions.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <heddle/loop_options.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/runtime.hpp>

namespace heddle {

/// The indices low, low + 1, ... high - 1.
struct index_range {
  constexpr index_range() noexcept = default;
  /// The bounds may be integers of any type. Reversed bounds make an empty range. Throws std::out_of_range for a
  /// negative bound.
  template <detail::loop_integer Low, detail::loop_integer High>
  constexpr index_range(Low first, High last) {
    if (!std::in_range<std::size_t>(+first) || !std::in_range<std::size_t>(+last))
      throw std::out_of_range("heddle: a bound of a box is negative or too large");
    low = static_cast<std::size_t>(first);
    high = std::max(low, static_cast<std::size_t>(last));
  }
  constexpr std::size_t size() const noexcept { return high - low; }

  std::size_t low{0}, high{0};
};

/// A range of indices in each of D dimensions. Neighbours along the last dimension are neighbours in memory.
template <std::size_t D>
class box {
  static_assert(D > 0);

 public:
  constexpr box() noexcept = default;
  template <class... Ranges>
    requires(sizeof...(Ranges) == D && (std::same_as<Ranges, index_range> && ...))
  constexpr explicit box(Ranges... ranges) noexcept : sides_{ranges...} {}
  constexpr box(index_range a, index_range b) noexcept
    requires(D == 2)
      : sides_{a, b} {}
  constexpr box(index_range a, index_range b, index_range c) noexcept
    requires(D == 3)
      : sides_{a, b, c} {}

  constexpr index_range& operator[](std::size_t dimension) noexcept { return sides_[dimension]; }
  constexpr const index_range& operator[](std::size_t dimension) const noexcept { return sides_[dimension]; }
  /// Returns the number of positions. Throws std::length_error if std::size_t cannot hold it.
  constexpr std::size_t size() const {
    if (std::ranges::any_of(sides_, [](const index_range& side) { return side.size() == 0; })) return 0;
    std::size_t n = 1;
    for (const index_range& side : sides_) {
      if (n > std::numeric_limits<std::size_t>::max() / side.size())
        throw std::length_error("heddle: a box has too many positions");
      n *= side.size();
    }
    return n;
  }

 private:
  std::array<index_range, D> sides_;
};
box(index_range, index_range) -> box<2>;
box(index_range, index_range, index_range) -> box<3>;

/// Options of a loop over a box.
template <std::size_t D>
struct box_options {
  /// The longest side of a tile in each dimension. 0 lets heddle choose: a tile has up to 2,048 positions, and each
  /// worker gets 64 tiles or more.
  std::array<std::size_t, D> tile{};
  std::stop_token stop{};              ///< as in loop_options
  std::size_t bytes_per_iteration{0};  ///< the bytes that a position touches
  loop_schedule schedule{};            ///< the schedule of the tiles; chunks are counted in tiles
};

namespace detail {

// A box cut into tiles. The tiles are numbered like the positions of an array.
template <std::size_t D>
class tiles_of {
  using sides = std::array<std::size_t, D>;

 public:
  tiles_of(const box<D>& all, const sides& tile) : all_(all) {
    for (std::size_t d = 0; d < D; ++d) side_[d] = std::min(tile[d], std::max<std::size_t>(all[d].size(), 1));
    choose_sides();
    for (std::size_t d = 0; d < D; ++d) count_[d] = (all[d].size() + side_[d] - 1) / side_[d];
  }
  std::size_t size() const noexcept { return product(count_); }
  std::size_t volume() const noexcept { return product(side_); }  // the number of positions of a whole tile

  // Calls body(tile) on the tiles low to high - 1.
  template <class Body>
  void each(std::size_t low, std::size_t high, Body& body) const {
    sides at;
    std::size_t rest = low;
    for (std::size_t d = D; d-- > 0; rest /= count_[d]) at[d] = rest % count_[d];
    for (std::size_t k = low; k != high; ++k) {
      const box<D> tile = tile_at(at);
      body(tile);
      for (std::size_t d = D; d-- > 0 && ++at[d] == count_[d];) at[d] = 0;
    }
  }

 private:
  static std::size_t product(const sides& all) noexcept {
    std::size_t n = 1;
    for (const std::size_t side : all) n *= side;
    return n;
  }

  box<D> tile_at(const sides& at) const noexcept {
    box<D> tile;
    for (std::size_t d = 0; d < D; ++d) {
      tile[d].low = all_[d].low + at[d] * side_[d];
      tile[d].high = std::min(tile[d].low + side_[d], all_[d].high);
    }
    return tile;
  }

  // Doubles the sides that are not given, one after the other, until the tile is large enough.
  void choose_sides() {
    const std::size_t most =
        std::clamp<std::size_t>(all_.size() / (std::size_t{64} * runtime::current().workers()), 1, 2048);
    sides limit{};
    for (std::size_t d = 0; d < D; ++d) {
      limit[d] = side_[d] != 0 ? 0 : std::max<std::size_t>(all_[d].size(), 1);
      if (side_[d] == 0) side_[d] = 1;
    }
    while (2 * volume() <= most) {
      const std::size_t d = shortest(limit);
      if (d == D) return;
      side_[d] = std::min(2 * side_[d], limit[d]);
    }
  }
  // Returns the dimension to lengthen next, among those below their limits, or D if there is none. The last dimension
  // comes first, until its side is four times the others, because its positions are neighbours in memory.
  std::size_t shortest(const sides& limit) const noexcept {
    std::size_t found = D;
    for (std::size_t d = D; d-- > 0;) {
      if (side_[d] < limit[d] && (found == D || weight(d) < weight(found))) found = d;
    }
    return found;
  }
  std::size_t weight(std::size_t d) const noexcept { return d + 1 == D ? side_[d] / 4 : side_[d]; }

  box<D> all_;
  sides side_{}, count_{};
};

template <std::size_t D, class F, class... Indices>
[[gnu::always_inline]] inline void call_at_each(F& f, const box<D>& tile, Indices... at) {
  constexpr std::size_t d = sizeof...(Indices);
  for (std::size_t i = tile[d].low; i != tile[d].high; ++i) {
    if constexpr (d + 1 == D) f(at..., i);
    else call_at_each(f, tile, at..., i);
  }
}

template <class F, std::size_t D, class = std::make_index_sequence<D>>
constexpr bool takes_indices = false;
template <class F, std::size_t D, std::size_t... I>
constexpr bool takes_indices<F, D, std::index_sequence<I...>> = std::is_invocable_v<F&, decltype(I)...>;

}  // namespace detail

/// Calls body(tile), possibly in parallel, on tiles of type box<D> that together cover the box exactly once.
/// Neighbouring tiles are likely to run on one thread. Exceptions, stops and thread context are those of
/// parallel_for_range. Throws std::length_error if std::size_t cannot hold the number of positions.
template <std::size_t D, class Body>
  requires std::invocable<Body&, const box<D>&>
void parallel_for_range(const box<D>& all, Body&& body, const std::type_identity_t<box_options<D>>& options = {}) {
  const detail::tiles_of<D> tiles(all, options.tile);
  parallel_for_range(std::size_t{0}, tiles.size(),
                     [&](std::size_t low, std::size_t high) { tiles.each(low, high, body); },
                     {.stop = options.stop,
                      .bytes_per_iteration = options.bytes_per_iteration * tiles.volume(),
                      .schedule = options.schedule});
}

/// Calls f(i, j, ...), with as many indices as the box has dimensions, for each position of the box.
template <std::size_t D, class F>
  requires detail::takes_indices<F, D>
void parallel_for(const box<D>& all, F&& f, const std::type_identity_t<box_options<D>>& options = {}) {
  parallel_for_range(all, [&f](const box<D>& tile) { detail::call_at_each(f, tile); }, options);
}

}  // namespace heddle

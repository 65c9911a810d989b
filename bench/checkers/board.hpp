// English draughts: the rules, on 32 squares. Men go forward, kings both ways. A side that can jump must jump, and
// jumps on as long as the same piece can. A man that reaches the last row becomes a king and stops.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace heddle::bench {

// Square s is in row s / 4, and its column is 2 (s % 4) and one more in even rows. The side that is to move goes
// towards higher rows: after each move the board is turned.
struct checkers_board {
  std::uint32_t mine = 0x00000FFF, theirs = 0xFFF00000, kings = 0;

  [[nodiscard]] bool operator==(const checkers_board&) const = default;
};

namespace detail {

// The next square in each of four directions (up left, up right, down left, down right), and the one behind it; -1 if
// there is none.
struct checkers_ways {
  std::array<std::array<std::int8_t, 4>, 32> next{}, behind{};
};
inline constexpr checkers_ways checkers_way = [] {
  checkers_ways w;
  const auto square = [](int row, int column) {
    return row < 0 || row > 7 || column < 0 || column > 7 ? -1 : row * 4 + column / 2;
  };
  for (int s = 0; s < 32; ++s) {
    const int row = s / 4, column = 2 * (s % 4) + (row % 2 == 0 ? 1 : 0);
    for (int d = 0; d < 4; ++d) {
      const int up = d < 2 ? 1 : -1, right = d % 2 == 0 ? -1 : 1;
      w.next[s][d] = static_cast<std::int8_t>(square(row + up, column + right));
      w.behind[s][d] = static_cast<std::int8_t>(square(row + 2 * up, column + 2 * right));
    }
  }
  return w;
}();

constexpr std::uint32_t checkers_bit(int square) { return std::uint32_t{1} << square; }
constexpr std::uint32_t turned(std::uint32_t squares) {
  std::uint32_t result = 0;
  for (int i = 0; i < 32; ++i, squares >>= 1) result = result << 1 | (squares & 1);
  return result;
}

}  // namespace detail

constexpr checkers_board turned(const checkers_board& b) {
  return {detail::turned(b.theirs), detail::turned(b.mine), detail::turned(b.kings)};
}

// The boards after each move, each turned for the other side.
class checkers_moves {
 public:
  static constexpr int most = 64;

  explicit checkers_moves(const checkers_board& b) {
    for (std::uint32_t left = b.mine; left != 0; left &= left - 1) jump(b, std::countr_zero(left));
    if (count_ != 0) return;
    for (std::uint32_t left = b.mine; left != 0; left &= left - 1) step(b, std::countr_zero(left));
  }
  [[nodiscard]] int size() const { return count_; }
  const checkers_board& operator[](int i) const { return boards_[static_cast<std::size_t>(i)]; }

 private:
  // Up alone for men.
  static int directions(const checkers_board& b, int square) {
    return (b.kings & detail::checkers_bit(square)) != 0 ? 4 : 2;
  }
  static checkers_board moved(const checkers_board& b, int from, int to) {
    checkers_board n = b;
    n.mine = (n.mine & ~detail::checkers_bit(from)) | detail::checkers_bit(to);
    if ((n.kings & detail::checkers_bit(from)) != 0)
      n.kings = (n.kings & ~detail::checkers_bit(from)) | detail::checkers_bit(to);
    return n;
  }
  void add(checkers_board b, int to) {
    if (to >= 28) b.kings |= detail::checkers_bit(to);
    if (count_ < most) boards_[static_cast<std::size_t>(count_++)] = turned(b);
  }
  void step(const checkers_board& b, int from) {
    const std::uint32_t taken = b.mine | b.theirs;
    for (int d = 0; d < directions(b, from); ++d) {
      const int to = detail::checkers_way.next[static_cast<std::size_t>(from)][static_cast<std::size_t>(d)];
      if (to >= 0 && (taken & detail::checkers_bit(to)) == 0) add(moved(b, from, to), to);
    }
  }
  // Makes all further jumps from a square. Returns true if there is one.
  bool jump(const checkers_board& b, int from) {
    bool any = false;
    const int ways = directions(b, from);
    for (int d = 0; d < ways; ++d) {
      const int over = detail::checkers_way.next[static_cast<std::size_t>(from)][static_cast<std::size_t>(d)];
      const int to = detail::checkers_way.behind[static_cast<std::size_t>(from)][static_cast<std::size_t>(d)];
      if (to < 0 || (b.theirs & detail::checkers_bit(over)) == 0) continue;
      if (((b.mine | b.theirs) & detail::checkers_bit(to)) != 0) continue;
      any = true;
      checkers_board after = moved(b, from, to);
      after.theirs &= ~detail::checkers_bit(over);
      after.kings &= ~detail::checkers_bit(over);
      const bool crowned = to >= 28 && (after.kings & detail::checkers_bit(to)) == 0;
      if (crowned || !jump(after, to)) add(after, to);
    }
    return any;
  }

  std::array<checkers_board, most> boards_;
  int count_ = 0;
};

}  // namespace heddle::bench

// A rudimentary player of checkers (English draughts): the value of the first position n moves ahead. Each move near
// the root is a task, and all of them are looked at. Below, alpha-beta runs in one task, with an open window. So the
// value, and the number of positions that are looked at, depend on n alone. The kernel is bound by computation, with an
// irregular tree. It is "CK" of Chen and Guo, section 3.8; the Cilk distribution has one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "backend/common.hpp"
#include "checkers/board.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

inline constexpr unsigned checkers_parallel = 4;  // the number of moves, from the root, of which each is a task
inline constexpr double checkers_position_cycles =
    150;  // assumed: the moves of up to twelve pieces, and a turned board

// Returns the value of a position for the side that is to move.
inline int checkers_value(const checkers_board& b) {
  const auto of = [&](std::uint32_t pieces) { return 3 * std::popcount(pieces) + 2 * std::popcount(pieces & b.kings); };
  return of(b.mine) - of(b.theirs);
}

struct checkers_found {
  int value;
  std::uint64_t positions;
};
inline constexpr int checkers_lost = -1000;

inline int checkers_search(const checkers_board& b, unsigned depth, int alpha, int beta, std::uint64_t& positions) {
  ++positions;
  if (depth == 0) return checkers_value(b);
  const checkers_moves moves(b);
  int best = checkers_lost;  // also for a side that cannot move
  for (int i = 0; i < moves.size(); ++i) {
    best = std::max(best, -checkers_search(moves[i], depth - 1, -beta, -std::max(alpha, best), positions));
    if (best >= beta) break;
  }
  return best;
}

template <class Backend>
checkers_found checkers_task(const checkers_board& b, unsigned depth, unsigned parallel) {
  if (parallel == 0 || depth == 0) {
    std::uint64_t positions = 0;
    const int value = checkers_search(b, depth, checkers_lost, -checkers_lost, positions);
    told::cycles(checkers_position_cycles * static_cast<double>(positions));
    return {value, positions};
  }
  told::cycles(checkers_position_cycles);
  const checkers_moves moves(b);
  std::array<int, checkers_moves::most> values;
  const std::uint64_t positions = Backend::sum(moves.size(), [&](int i) {
    const checkers_found found = checkers_task<Backend>(moves[i], depth - 1, parallel - 1);
    values[static_cast<std::size_t>(i)] = -found.value;
    return found.positions;
  });
  int best = checkers_lost;
  for (int i = 0; i < moves.size(); ++i) best = std::max(best, values[static_cast<std::size_t>(i)]);
  return {best, positions + 1};
}

struct checkers {
  static constexpr std::size_t default_n = 12;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    if (c.n() > 40) throw std::invalid_argument("--n " + std::to_string(c.n()) + ": at most 40 moves ahead");
    checkers_found found{};
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3, [] {},
          [&] { found = checkers_task<Backend>(checkers_board{}, static_cast<unsigned>(c.n()), checkers_parallel); },
          [&] {
            digest d;
            d.add(static_cast<std::uint64_t>(found.value));
            d.add(found.positions);
            return d.value();
          });
    });
  }
};

}  // namespace heddle::bench

// Counts the placements of n queens: a task per valid partial placement, each with its own copy of
// the board; irregular, about a hundred nanoseconds a task. Origin: the Cilk distribution's queens
// program. "group": one task group's child a placement, whatever the runtime; "halves": forks in two.
#pragma once

#include <cstring>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"

namespace heddle::bench {

inline constexpr std::size_t nqueens_limit = 20;

struct board {
  unsigned char rows[nqueens_limit];
};

// Whether the last of `count` queens is attacked by none of the others.
inline bool queens_safe(const board& b, int count) {
  const int row = count - 1, q = b.rows[row];
  for (int i = 0; i < row; ++i) {
    const int p = b.rows[i], distance = row - i;
    if (p == q || p == q - distance || p == q + distance) return false;
  }
  return true;
}

template <class Backend, class Form = own_form>
std::uint64_t nqueens_task(int n, int placed, const board& b) {
  if (placed == n) return 1;
  told::cycles(n * (8 + 3.0 * placed));  // each column is looked at against all queens that stand
  board next[nqueens_limit];
  int valid = 0;
  for (int column = 0; column < n; ++column) {
    std::memcpy(next[valid].rows, b.rows, static_cast<std::size_t>(placed));
    next[valid].rows[placed] = static_cast<unsigned char>(column);
    valid += queens_safe(next[valid], placed + 1) ? 1 : 0;
  }
  return Form::template sum<Backend>(
      valid, [n, placed, &next](int i) { return nqueens_task<Backend, Form>(n, placed + 1, next[i]); });
}

struct nqueens {
  static constexpr std::size_t default_n = 12;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    Backend backend(c.options());
    backend.run([&] {
      const int n = static_cast<int>(c.n() < nqueens_limit ? c.n() : nqueens_limit);
      measure_forms(c, [n]<class Form>(Form) { return nqueens_task<Backend, Form>(n, 0, board{}); });
    });
  }
};

}  // namespace heddle::bench

// The formulas by which CAB and LAWS cut a tree of tasks into an upper part that is shared out among sockets and
// subtrees that stay within one. Pure functions of numbers; tests/policy/tier_partition_test.cpp has the examples of
// the book.
//
// Source: Chen, Guo, "Task scheduling for multi-core and parallel architectures" (Springer 2017), chapters 3 and 4.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace heddle::policy {

// Eq. 3.4: the level of the leaf inter-socket tasks of a tree in which every task makes `branching` children; the root
// of the recursion has level 1. It is the smallest level that has a task for each socket, and tasks whose share of
// `bytes` fits into the shared cache of a socket. Returns 0 if there is one socket, so that nothing is cut. If the
// bytes or the cache are not known (0), only the sockets count. The computation multiplies, because logarithms would be
// wrong at exact powers.
inline unsigned boundary_level(unsigned branching, unsigned sockets, double bytes, double cache) noexcept {
  if (sockets < 2) return 0;
  constexpr unsigned deepest = 64;
  const double by = branching < 2 ? 2 : branching;
  unsigned level = 1;
  for (double tasks = 1; level < deepest; ++level, tasks *= by) {
    if (tasks >= sockets && (bytes <= 0 || cache <= 0 || bytes / tasks <= cache)) break;
  }
  return level;
}

// One step of Eq. 3.5: the size of involved data of each child of a task that makes `branching` of them.
inline double even_share(double bytes, unsigned branching) noexcept { return bytes / (branching == 0 ? 1 : branching); }

// The part of a program's data on which a task works, as an exact fraction: [from, to) of `parts`. The data's size need
// not be known.
struct data_range {
  std::uint64_t from{0}, to{1}, parts{1};

  // Eq. 4.5: the range of child `index` (from 0) of `count`. Below a fineness that no socket's border needs, it is the
  // range itself: such a range lies within one socket, or across a border however finely it is cut.
  data_range child(unsigned index, unsigned count) const noexcept {
    constexpr std::uint64_t finest = std::uint64_t{1} << 44;
    if (count < 2 || index >= count || parts > finest / count) return *this;
    const std::uint64_t length = to - from;
    data_range made{from * count + index * length, from * count + (index + 1) * length, parts * count};
    const std::uint64_t common = std::gcd(std::gcd(made.from, made.to), made.parts);
    made.from /= common, made.to /= common, made.parts /= common;
    return made;
  }
  // The socket, of `sockets` (below 2^19), in whose part of the data the range begins: socket i owns [i, i + 1) /
  // sockets.
  unsigned first_socket(unsigned sockets) const noexcept {
    return static_cast<unsigned>(std::min<std::uint64_t>(from * sockets / parts, sockets - 1));
  }
  // Whether the range lies within that socket's part.
  bool is_within_one(unsigned sockets) const noexcept { return to * sockets <= (first_socket(sockets) + 1) * parts; }
  // The socket that owns most of the range; the first one among equals.
  unsigned main_socket(unsigned sockets) const noexcept {
    unsigned best = first_socket(sockets);
    std::uint64_t most = 0;
    for (unsigned i = best; i < sockets && i * parts < to * sockets; ++i) {
      const std::uint64_t owned = std::min(to * sockets, (i + 1) * parts) - std::max(from * sockets, i * parts);
      if (owned > most) best = i, most = owned;
    }
    return best;
  }

  friend bool operator==(const data_range&, const data_range&) = default;
};

}  // namespace heddle::policy

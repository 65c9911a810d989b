// One set of a cache as an array of line numbers, last used first, in registers. It is searched and shifted as a whole,
// without a branch that depends on where the line is. It uses vectors of the compiler, with four line numbers each.
#pragma once

#include <cstdint>

namespace heddle::sim::set_scan {

// may_alias, because the sets are line numbers.
typedef std::uint32_t quad __attribute__((vector_size(16), may_alias));
typedef std::uint32_t anywhere __attribute__((vector_size(16), may_alias, aligned(4)));
typedef std::int32_t signed_quad __attribute__((vector_size(16), may_alias));
typedef std::uint64_t pair __attribute__((vector_size(16), may_alias));

inline constexpr unsigned most_quads = 8;

[[gnu::always_inline]] inline quad all(std::uint32_t x) { return quad{x, x, x, x}; }
[[gnu::always_inline]] inline quad chosen(quad where, quad yes, quad no) { return (where & yes) | (~where & no); }
// A mask of the lanes of quad `b` whose number in the set is above `way`.
[[gnu::always_inline]] inline quad above(unsigned b, std::uint32_t way) {
  const auto first = static_cast<std::int32_t>(4 * b), limit = static_cast<std::int32_t>(way);
  const signed_quad number = {first, first + 1, first + 2, first + 3};
  return reinterpret_cast<quad>(number > signed_quad{limit, limit, limit, limit});
}

// Zero if no way has the line; else not zero in the lanes that have it.
template <unsigned Quads>
[[gnu::always_inline]] inline quad lanes_with(const quad (&set)[Quads], std::uint32_t line) {
  quad found = {};
  for (unsigned b = 0; b < Quads; ++b)
    found |= reinterpret_cast<quad>(set[b] == all(line)) & (quad{1, 2, 4, 8} << (4 * b));
  return found;
}
template <unsigned Quads>
[[gnu::always_inline]] inline bool has(const quad (&set)[Quads], std::uint32_t line) {
  quad found = {};
  for (unsigned b = 0; b < Quads; ++b) found |= reinterpret_cast<quad>(set[b] == all(line));
  const auto halves = reinterpret_cast<pair>(found);
  return (halves[0] | halves[1]) != 0;
}
// The way that has the line. One way must have it.
template <unsigned Quads>
[[gnu::always_inline]] inline std::uint32_t way_of(const quad (&set)[Quads], std::uint32_t line) {
  const auto halves = reinterpret_cast<pair>(lanes_with(set, line));
  const std::uint64_t both = halves[0] | halves[1];
  return static_cast<std::uint32_t>(
      __builtin_ctz(static_cast<std::uint32_t>(both) | static_cast<std::uint32_t>(both >> 32)));
}

template <unsigned Quads>
[[gnu::always_inline]] inline bool contains(const std::uint32_t* at, std::uint32_t line) {
  const auto* const memory = reinterpret_cast<const quad*>(at);
  quad set[Quads];
  for (unsigned b = 0; b < Quads; ++b) set[b] = memory[b];
  return has(set, line);
}

// Moves the line to the front; the lines before it move back by one. If the line is not there, all lines move back, and
// the last of `ways` is lost.
template <unsigned Quads>
[[gnu::always_inline]] inline bool to_front(std::uint32_t* at, std::uint32_t ways, std::uint32_t line,
                                            std::uint32_t none) {
  auto* const memory = reinterpret_cast<quad*>(at);
  quad set[Quads], shifted[Quads];
  for (unsigned b = 0; b < Quads; ++b) set[b] = memory[b];
  shifted[0] = __builtin_shufflevector(all(line), set[0], 3, 4, 5, 6);
  for (unsigned b = 1; b < Quads; ++b) shifted[b] = *reinterpret_cast<const anywhere*>(at + 4 * b - 1);
  if (!has(set, line)) {
    for (unsigned b = 0; b < Quads; ++b) memory[b] = shifted[b];
    if (ways != 4 * Quads) at[ways] = none;
    return false;
  }
  const std::uint32_t way = way_of(set, line);
  for (unsigned b = 0; b < Quads; ++b) memory[b] = chosen(above(b, way), set[b], shifted[b]);
  return true;
}

// Removes the line. The lines behind it move forward by one, and `none` comes to the end.
template <unsigned Quads>
[[gnu::always_inline]] inline bool take_out(std::uint32_t* at, std::uint32_t line, std::uint32_t none) {
  auto* const memory = reinterpret_cast<quad*>(at);
  quad set[Quads];
  for (unsigned b = 0; b < Quads; ++b) set[b] = memory[b];
  if (!has(set, line)) return false;
  const std::uint32_t way = way_of(set, line);
  for (unsigned b = 0; b < Quads; ++b) {
    const quad after = b + 1 < Quads ? *reinterpret_cast<const anywhere*>(at + 4 * b + 1)
                                     : __builtin_shufflevector(set[b], all(none), 1, 2, 3, 4);
    memory[b] = chosen(above(b, way - 1), after, set[b]);
  }
  return true;
}

// Calls f with the number of quads, between 1 and most_quads, as a constant.
template <class F>
[[gnu::always_inline]] inline bool with_quads(std::uint32_t quads, F&& f) {
  switch (quads) {
    case 1: return f.template operator()<1>();
    case 2: return f.template operator()<2>();
    case 3: return f.template operator()<3>();
    case 4: return f.template operator()<4>();
    case 5: return f.template operator()<5>();
    case 6: return f.template operator()<6>();
    case 7: return f.template operator()<7>();
    default: return f.template operator()<most_quads>();
  }
}

}  // namespace heddle::sim::set_scan

// Marching tetrahedra in a cell. A cell is a cube whose corner c is at (c & 1, c >> 1 & 1, c >> 2). It is cut into six
// tetrahedra. Their corners are 0, a neighbour of 0, a neighbour of that neighbour, and 7. So neighbouring cells cut
// the side between them in the same way (Kuhn's division). Source: Doi, Koide, "An efficient method of triangulating
// equi-valued surfaces by using tetrahedral cells", IEICE Transactions E74(1), 1991.
#pragma once

#include <array>
#include <cstdint>

namespace heddle::bench {

// An edge of a tetrahedron, between two corners of a cell. The bits of `low` are among those of `high`: seen from its
// lower end it goes in one of seven directions, and cells that share it see it alike.
struct cell_edge {
  std::uint8_t low = 0, high = 0;
};
// Up to twelve triangles, each by the edges on which its corners are. Seen from outside they go round against the
// clock; outside is where values are smaller.
struct cell_triangles {
  std::uint8_t count = 0;
  std::array<std::array<cell_edge, 3>, 12> of{};
};

namespace detail {

struct corner {
  int x, y, z;
};
constexpr corner corner_of(unsigned c) {
  return {static_cast<int>(c & 1), static_cast<int>(c >> 1 & 1), static_cast<int>(c >> 2 & 1)};
}
// Of b - a, c - a, d - a: six times the volume of the tetrahedron, by the right hand.
constexpr int determinant(unsigned at, unsigned b, unsigned c, unsigned d) {
  const auto from = [at](unsigned to) {
    const corner p = corner_of(at), q = corner_of(to);
    return corner{q.x - p.x, q.y - p.y, q.z - p.z};
  };
  const corner u = from(b), v = from(c), w = from(d);
  return u.x * (v.y * w.z - v.z * w.y) - u.y * (v.x * w.z - v.z * w.x) + u.z * (v.x * w.y - v.y * w.x);
}

constexpr cell_edge edge(unsigned a, unsigned b) {
  return {static_cast<std::uint8_t>(a & b), static_cast<std::uint8_t>(a | b)};
}

// Triangles of one tetrahedron. `inside`: a bit for each corner of the cell whose value is at least the level.
constexpr void add_tetrahedron(cell_triangles& to, const std::array<unsigned, 4>& corners, unsigned inside) {
  std::array<unsigned, 4> in{}, out{};
  unsigned ins = 0, outs = 0;
  for (const unsigned c : corners) {
    if ((inside >> c & 1) != 0) in[ins++] = c;
    else out[outs++] = c;
  }
  const auto triangle = [&to](cell_edge a, cell_edge b, cell_edge c, bool turned) {
    to.of[to.count++] = turned ? std::array<cell_edge, 3>{a, c, b} : std::array<cell_edge, 3>{a, b, c};
  };
  if (ins == 1) {  // by the right hand the three cuts point away from the corner
    triangle(edge(in[0], out[0]), edge(in[0], out[1]), edge(in[0], out[2]),
             determinant(in[0], out[0], out[1], out[2]) < 0);
  } else if (outs == 1) {
    triangle(edge(out[0], in[0]), edge(out[0], in[1]), edge(out[0], in[2]),
             determinant(out[0], in[0], in[1], in[2]) > 0);
  } else if (ins == 2) {  // four sides
    const bool turned = determinant(in[0], in[1], out[0], out[1]) < 0;
    const cell_edge a = edge(in[0], out[0]), b = edge(in[0], out[1]), c = edge(in[1], out[1]), d = edge(in[1], out[0]);
    triangle(a, b, c, turned);
    triangle(a, c, d, turned);
  }
}

constexpr cell_triangles triangles_of(unsigned inside) {
  constexpr std::array<std::array<unsigned, 2>, 6> ways{{{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}}};
  cell_triangles all;
  for (const auto& [second, third] : ways) add_tetrahedron(all, {0, second, third, 7}, inside);
  return all;
}

}  // namespace detail

// By the corners that are inside.
inline constexpr std::array<cell_triangles, 256> cell_table = [] {
  std::array<cell_triangles, 256> all{};
  for (unsigned inside = 0; inside < 256; ++inside) all[inside] = detail::triangles_of(inside);
  return all;
}();

}  // namespace heddle::bench

// Triangles in space, and files of them: Wavefront OBJ, and VTK's legacy POLYDATA, by the ending of the name. Corners
// that are bit for bit the same are written once.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/random.hpp"

namespace heddle::bench {

using surface_point = std::array<float, 3>;
using surface_triangle = std::array<surface_point, 3>;

// Corners, each once, in the order in which they are first met; and the triangles by their numbers.
struct indexed_surface {
  std::vector<surface_point> points;
  std::vector<std::array<std::uint32_t, 3>> triangles;

  explicit indexed_surface(std::span<const surface_triangle> all) {
    using bits = std::array<std::uint32_t, 3>;
    struct hash {
      std::size_t operator()(const bits& b) const { return mix64(b[0] ^ mix64(b[1] ^ mix64(b[2]))); }
    };
    std::unordered_map<bits, std::uint32_t, hash> known;
    for (const surface_triangle& t : all) {
      std::array<std::uint32_t, 3> corners;
      for (std::size_t k = 0; k < 3; ++k) {
        const auto [at, is_new] =
            known.try_emplace(std::bit_cast<bits>(t[k]), static_cast<std::uint32_t>(points.size()));
        if (is_new) points.push_back(t[k]);
        corners[k] = at->second;
      }
      triangles.push_back(corners);
    }
  }
};

// Throws std::invalid_argument for another ending.
inline bool is_obj(const std::string& path) {
  if (!path.ends_with(".obj") && !path.ends_with(".vtk"))
    throw std::invalid_argument("--output " + path + ": a surface is written to a file NAME.obj or NAME.vtk");
  return path.ends_with(".obj");
}

// Throws std::runtime_error where the file cannot be written.
inline void write_surface(const std::string& path, std::span<const surface_triangle> all) {
  const bool obj = is_obj(path);
  const auto fail = [&path] { throw std::runtime_error("--output " + path + ": cannot be written"); };
  struct closer {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  const std::unique_ptr<std::FILE, closer> file(std::fopen(path.c_str(), "w"));
  if (file == nullptr) fail();
  std::FILE* const f = file.get();
  const indexed_surface s(all);
  if (!obj)
    std::fprintf(f,
                 "# vtk DataFile Version 3.0\nisosurface by heddle-bench\nASCII\nDATASET POLYDATA\nPOINTS %zu float\n",
                 s.points.size());
  for (const auto& p : s.points)
    std::fprintf(f, obj ? "v %.9g %.9g %.9g\n" : "%.9g %.9g %.9g\n", static_cast<double>(p[0]),
                 static_cast<double>(p[1]), static_cast<double>(p[2]));
  if (!obj) std::fprintf(f, "POLYGONS %zu %zu\n", s.triangles.size(), 4 * s.triangles.size());
  const unsigned first = obj ? 1 : 0;
  for (const auto& t : s.triangles)
    std::fprintf(f, obj ? "f %u %u %u\n" : "3 %u %u %u\n", t[0] + first, t[1] + first, t[2] + first);
  if (std::fflush(f) != 0 || std::ferror(f) != 0) fail();
}

}  // namespace heddle::bench

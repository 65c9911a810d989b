// Values at the points of a regular grid in space: read from a legacy VTK file of structured points, or made.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::bench {

struct volume {
  std::size_t nx = 0, ny = 0, nz = 0;  // points
  double origin[3] = {0, 0, 0}, spacing[3] = {1, 1, 1};
  std::vector<float> value;  // x first
};

// A surface of fourth degree with handles (the "tangle" cube), zero on the surface and larger inside: `columns` cells
// from -3 to 3 in two directions, and n of the same size in the third, about the middle.
inline volume tangle(std::size_t n, std::size_t columns) {
  if (n == 0 || n > 4096 || columns == 0 || columns > 4096)
    throw std::invalid_argument("--n " + std::to_string(n) + ", --columns " + std::to_string(columns) +
                                ": a volume has 1 to 4,096 cells a side");
  volume v;
  v.nx = v.ny = columns + 1;
  v.nz = n + 1;
  v.value.reserve(v.nx * v.ny * v.nz);
  const double side = 6 / static_cast<double>(columns);
  const std::size_t cells[3] = {columns, columns, n};
  std::vector<double> along[3];
  for (std::size_t k = 0; k < 3; ++k) {
    v.spacing[k] = side;
    v.origin[k] = -side * static_cast<double>(cells[k]) / 2;
    for (std::size_t i = 0; i <= cells[k]; ++i) {
      const double x = v.origin[k] + static_cast<double>(i) * side, square = x * x;
      along[k].push_back(square * (5 - square));
    }
  }
  for (const double z : along[2])
    for (const double y : along[1])
      for (const double x : along[0]) v.value.push_back(static_cast<float>(x + y + z - 11.8));
  return v;
}

// "# vtk DataFile", STRUCTURED_POINTS with SCALARS of float, double, short or unsigned char, ASCII or BINARY (big
// endian). Every error names the file.
class vtk_reader {
 public:
  vtk_reader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  volume read() {
    std::string line;
    if (!std::getline(in_, line) || !line.starts_with("# vtk DataFile"))
      fail("expected a legacy VTK file, whose first line is '# vtk DataFile Version ...'");
    std::getline(in_, line);  // a title
    const std::string form = word("ASCII or BINARY");
    if (form != "ASCII" && form != "BINARY") fail("expected ASCII or BINARY, found '" + form + "'");
    expect("DATASET");
    if (const std::string kind = word("a kind of data set"); kind != "STRUCTURED_POINTS")
      fail("only DATASET STRUCTURED_POINTS is read, not '" + kind + "'");
    volume v;
    std::size_t points = 0;
    for (;;) {
      const std::string key = word("DIMENSIONS, ORIGIN, SPACING, POINT_DATA or SCALARS");
      if (key == "DIMENSIONS") {
        v.nx = count(), v.ny = count(), v.nz = count();
        constexpr std::size_t most = 4097;
        for (const std::size_t n : {v.nx, v.ny, v.nz})
          if (n < 2 || n > most) fail("DIMENSIONS are 2 to 4,097 points a side, not " + std::to_string(n));
        points = v.nx * v.ny * v.nz;
      } else if (key == "ORIGIN") {
        for (double& x : v.origin) x = real();
      } else if (key == "SPACING" || key == "ASPECT_RATIO") {
        for (double& x : v.spacing) x = real();
      } else if (key == "POINT_DATA") {
        if (const std::size_t n = count(); n != points || points == 0)
          fail("POINT_DATA " + std::to_string(n) + " of " + std::to_string(points) +
               " points (DIMENSIONS come before)");
      } else if (key == "SCALARS") {
        if (points == 0) fail("SCALARS before DIMENSIONS");
        read_scalars(v, points, form == "BINARY");
        for (const float x : v.value)
          if (!std::isfinite(x)) fail("SCALARS hold a value that is no number, or infinite");
        return v;
      } else {
        fail("'" + key + "' is not read here");
      }
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw std::invalid_argument(name_ + ": " + what); }
  std::string word(const char* what) {
    std::string w;
    if (!(in_ >> w)) fail("ends where " + std::string(what) + " should be");
    return w;
  }
  void expect(const char* text) {
    if (const std::string w = word(text); w != text) fail("expected " + std::string(text) + ", found '" + w + "'");
  }
  double real() {
    const std::string w = word("a number");
    std::size_t used = 0;
    try {
      const double x = std::stod(w, &used);
      if (used == w.size()) return x;
    } catch (const std::exception&) {  // said below
    }
    fail("expected a number, found '" + w + "'");
  }
  std::size_t count() {
    const double x = real();
    if (!(x >= 0 && x < 1e15) || x != static_cast<double>(static_cast<std::size_t>(x))) fail("expected a count");
    return static_cast<std::size_t>(x);
  }
  template <class T, class Bits>
  void binary(volume& v, std::size_t points) {
    std::vector<unsigned char> bytes(points * sizeof(T));
    in_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (static_cast<std::size_t>(in_.gcount()) != bytes.size())
      fail("has " + std::to_string(in_.gcount()) + " bytes of SCALARS, needs " + std::to_string(bytes.size()));
    v.value.reserve(points);
    for (std::size_t i = 0; i < points; ++i) {
      Bits bits = 0;
      for (std::size_t k = 0; k < sizeof(T); ++k) bits = static_cast<Bits>(bits << 8 | bytes[i * sizeof(T) + k]);
      v.value.push_back(static_cast<float>(std::bit_cast<T>(bits)));
    }
  }
  void read_scalars(volume& v, std::size_t points, bool is_binary) {
    word("a name");
    const std::string type = word("a type");
    std::string rest;
    std::getline(in_, rest);
    if (rest.find_first_not_of(" 1\r") != std::string::npos) fail("SCALARS of one component are read");
    expect("LOOKUP_TABLE");
    word("a name");
    std::getline(in_, rest);
    if (!is_binary) {
      for (std::size_t i = 0; i < points; ++i) v.value.push_back(static_cast<float>(real()));
    } else if (type == "float") {
      binary<float, std::uint32_t>(v, points);
    } else if (type == "double") {
      binary<double, std::uint64_t>(v, points);
    } else if (type == "short") {
      binary<std::int16_t, std::uint16_t>(v, points);
    } else if (type == "unsigned_char") {
      binary<std::uint8_t, std::uint8_t>(v, points);
    } else {
      fail("SCALARS of float, double, short or unsigned_char are read, not '" + type + "'");
    }
  }

  std::istream& in_;
  std::string name_;
};

// Throws std::invalid_argument for what is no such file.
inline volume read_vtk(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::invalid_argument("--input " + path + ": cannot be opened");
  return vtk_reader(in, path).read();
}

}  // namespace heddle::bench

// Kernels of parallel loops over meshes, matrices and images: what they compute, the files that they read and write,
// and the same results on heddle with any number of workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <numbers>
#include <sstream>

#include "backend/heddle.hpp"
#include "backend/serial.hpp"
#include "captured.hpp"
#include "convolve/convolve.hpp"
#include "isosurface/isosurface.hpp"
#include "spmv/spmv.hpp"
#include "sweep/sweep.hpp"

namespace heddle::bench {
namespace loop_kernels_test {
namespace {

using testing::HasSubstr;

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "none";
}

std::string file(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "heddle_loop_kernels_" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}
std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

sparse_matrix matrix_of(const std::string& text) {
  std::istringstream in(text);
  return matrix_market_reader(in, "a.mtx").read();
}
std::vector<std::vector<double>> dense(const sparse_matrix& m) {
  std::vector<std::vector<double>> d(m.rows, std::vector<double>(m.columns));
  for (std::size_t i = 0; i < m.rows; ++i)
    for (std::size_t k = m.begins[i]; k < m.begins[i + 1]; ++k) d[i][m.column[k]] = m.value[k];
  return d;
}

TEST(matrix_market, reads_each_kind) {
  using rows = std::vector<std::vector<double>>;
  EXPECT_EQ(dense(matrix_of("%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 3 4\n"
                            "1 1 2.5\n2 3 -1e2\n1 2 +4\n2 3 1\n")),
            (rows{{2.5, 4, 0}, {0, 0, -99}}));
  EXPECT_EQ(dense(matrix_of("%%MatrixMarket MATRIX Coordinate Integer Symmetric\r\n2 2 2\r\n1 1 3\r\n2 1 -4\r\n")),
            (rows{{3, -4}, {-4, 0}}));
  EXPECT_EQ(dense(matrix_of("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n")),
            (rows{{0, -5}, {5, 0}}));
  EXPECT_EQ(dense(matrix_of("%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n")), (rows{{0, 1}}));
}

TEST(matrix_market, says_what_is_wrong_and_where) {
  const auto error = [](const std::string& text) { return error_of([&] { matrix_of(text); }); };
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  EXPECT_THAT(error(""), HasSubstr("a.mtx:0: is empty"));
  EXPECT_THAT(error("1 1 1\n"), HasSubstr("a.mtx:1: expected '%%MatrixMarket"));
  EXPECT_THAT(error("%%MatrixMarket matrix array real general\n"), HasSubstr("only the coordinate form"));
  EXPECT_THAT(error("%%MatrixMarket matrix coordinate complex general\n"), HasSubstr("not 'complex'"));
  EXPECT_THAT(error("%%MatrixMarket matrix coordinate real hermitian\n"), HasSubstr("not 'hermitian'"));
  EXPECT_THAT(error(head), HasSubstr("ends before the line"));
  EXPECT_THAT(error(head + "2 x 1\n"), HasSubstr("a.mtx:2: expected the number of columns, found 'x'"));
  EXPECT_THAT(error(head + "0 2 0\n"), HasSubstr("between 1 and 2^32 - 1"));
  EXPECT_THAT(error(head + "2 2 2\n1 1 1\n"), HasSubstr("ends after 1 of 2 entries"));
  EXPECT_THAT(error(head + "2 2 1\n3 1 1\n"), HasSubstr("a.mtx:3: entry (3, 1) is outside of 2 x 2"));
  EXPECT_THAT(error(head + "2 2 1\n0 1 1\n"), HasSubstr("the first row and column are 1"));
  EXPECT_THAT(error(head + "2 2 1\n1 1 one\n"), HasSubstr("expected a value, found 'one'"));
  EXPECT_THAT(error(head + "2 2 1\n1 1 1 1\n"), HasSubstr("'1' after the end"));
  EXPECT_THAT(error(head + "2 2 1\n1 1 1\n1 2 1\n"), HasSubstr("more entries than the 1"));
  EXPECT_THAT(error("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n"), HasSubstr("is square"));
  EXPECT_THAT(error_of([] { read_matrix_market("/nowhere/a.mtx"); }), HasSubstr("/nowhere/a.mtx: cannot be opened"));
}

TEST(spmv, equals_the_sum_over_a_row) {
  for (const std::size_t n : {1, 50, 1000}) {
    const sparse_matrix m = sparse_mesh(n, 30);
    EXPECT_EQ(m.rows, n);
    const spmv_data data(m, touch::interleave);
    for (std::size_t b = 0; b < data.blocks(); ++b) data.start(b);
    for (int twice = 0; twice < 2; ++twice)
      for (std::size_t b = 0; b < data.blocks(); ++b) data.multiply(b);
    const auto d = dense(m);
    for (std::size_t i = 0; i < m.rows; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < m.columns; ++j) sum += d[i][j] * static_cast<double>(mix64(j) % 256);
      ASSERT_NEAR(data.y()[i], 2 * sum, 1e-9) << i;
      for (std::size_t k = m.begins[i] + 1; k < m.begins[i + 1]; ++k) ASSERT_LT(m.column[k - 1], m.column[k]);
    }
  }
}

image image_of(const std::string& bytes) { return netpbm_reader(bytes, "a.pgm").read(); }

TEST(netpbm, reads_each_kind) {
  using samples = std::vector<std::uint8_t>;
  const image grey = image_of("P2 # a comment\n2 # another\n 2 255\n0 1\n2 255");
  EXPECT_EQ(grey.width, 2u);
  EXPECT_EQ(grey.height, 2u);
  EXPECT_EQ(grey.channels, 1u);
  EXPECT_EQ(grey.samples, (samples{0, 1, 2, 255}));
  EXPECT_EQ(image_of("P5 2 1 255\n\x07\n").samples, (samples{7, 10}));  // a sample may be a line feed
  EXPECT_EQ(image_of("P3 1 2 9 1 2 3 4 5 6").channels, 3u);
  EXPECT_EQ(image_of("P6\n1\n1\n255\nabc").samples, (samples{'a', 'b', 'c'}));
}

TEST(netpbm, says_what_is_wrong_and_where) {
  const auto error = [](const std::string& text) { return error_of([&] { image_of(text); }); };
  EXPECT_THAT(error("GIF89a"), HasSubstr("a.pgm, byte 0: expected a PGM or PPM file"));
  EXPECT_THAT(error("P4 1 1 1"), HasSubstr("P2, P3, P5 or P6"));
  EXPECT_THAT(error("P5 x"), HasSubstr("expected the width"));
  EXPECT_THAT(error("P5 0 4 255\n"), HasSubstr("at least one point"));
  EXPECT_THAT(error("P5 2 2 65535\n"), HasSubstr("65535; only images of 1 to 255"));
  EXPECT_THAT(error("P5 2 2 255\nabc"), HasSubstr("has 3 bytes of samples; 2 x 2 need 4"));
  EXPECT_THAT(error("P5 2 2 255"), HasSubstr("has 0 bytes"));
  EXPECT_THAT(error("P2 2 2 7 1 2 8 1"), HasSubstr("a sample is more than 7"));
  EXPECT_THAT(error("P2 2 2 7 1 2   "), HasSubstr("expected a sample, found no number"));
  EXPECT_THAT(error("P2 200 200 7 1 2"), HasSubstr("ends early"));
  EXPECT_THAT(error("P5 99999999 2 255\n"), HasSubstr("the width is more than"));
  EXPECT_THAT(error_of([] { read_netpbm("/nowhere/a.pgm"); }), HasSubstr("cannot be opened"));
  EXPECT_THAT(error_of([] { write_netpbm("/nowhere/a.pgm", ringed_image(3, 2)); }), HasSubstr("cannot be written"));
}

TEST(convolve, is_the_weighted_mean_of_49) {
  for (const std::size_t channels : {1, 3}) {
    image source{300, 11, channels, {}};
    for (std::size_t i = 0; i < 300 * 11 * channels; ++i)
      source.samples.push_back(static_cast<std::uint8_t>(mix64(i) % 256));
    const convolve_data data(source, touch::interleave);
    for (std::size_t y = 0; y < 11; ++y) data.start(y);
    for (std::size_t y = 0; y < 11; ++y) data.filter(0, y);
    const image result = data.result(1);
    EXPECT_EQ(data.result(0).samples, source.samples);
    for (std::size_t y = 0; y < 11; ++y) {
      for (std::size_t x = 0; x < 300 * channels; ++x) {
        double sum = 0;
        for (int dy = -3; dy <= 3; ++dy) {
          for (int dx = -3; dx <= 3; ++dx) {
            const int row = std::clamp(static_cast<int>(y) + dy, 0, 10);
            const int column = std::clamp(static_cast<int>(x / channels) + dx, 0, 299);
            const double weights[7] = {1, 6, 15, 20, 15, 6, 1};
            sum += weights[dy + 3] * weights[dx + 3] / 4096 *
                   source.samples[(static_cast<std::size_t>(row) * 300 + static_cast<std::size_t>(column)) * channels +
                                  x % channels];
          }
        }
        ASSERT_EQ(result.samples[y * 300 * channels + x], static_cast<int>(std::floor(sum + 0.5))) << x << " " << y;
      }
    }
  }
}

TEST(sweep, is_stencil6_line_by_line) {
  const rows_shape s(7, 9, 1, true);
  const rows_memory by_lines(s, 2, touch::first), by_planes(s, 2, touch::first);
  for (const rows_memory* m : {&by_lines, &by_planes}) m->fill(s.first(), s.last(), rows_random(s));
  for (std::size_t l = 0; l < 63; ++l) sweep_line(s, by_lines.grid(0), by_lines.grid(1), l / 9, l % 9);
  stencil_iteration<serial_backend, stencil6>({}, s, by_planes.grid(0), by_planes.grid(1));
  EXPECT_EQ(by_lines.checksum(1), by_planes.checksum(1));
  EXPECT_NE(by_lines.checksum(1), by_lines.checksum(0));
}

// The surface of a volume, in order.
std::vector<surface_triangle> surface_of(const volume& v, float level) {
  isosurface_data data(v, level, touch::interleave);
  for (std::size_t z = 0; z < data.planes(); ++z) data.start(z);
  for (std::size_t r = 0; r < data.rows(); ++r) data.count(r);
  data.sum_up();
  for (std::size_t r = 0; r < data.rows(); ++r) data.extract(r);
  return {data.triangles().begin(), data.triangles().end()};
}

struct measured_surface {
  double area = 0, volume = 0;
};
measured_surface measure(const std::vector<surface_triangle>& all) {
  measured_surface m;
  for (const auto& [a, b, c] : all) {
    double u[3], v[3], n[3];
    for (std::size_t k = 0; k < 3; ++k) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
    for (std::size_t k = 0; k < 3; ++k) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    m.area += std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
    m.volume += (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]) / 6;
  }
  return m;
}
// Each edge is there as often in one direction as in the other: no holes, and one orientation.
void expect_closed(const std::vector<surface_triangle>& all) {
  const indexed_surface s(all);
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
  for (const auto& t : s.triangles)
    for (std::size_t k = 0; k < 3; ++k) ++edges[{t[k], t[(k + 1) % 3]}];
  for (const auto& [edge, times] : edges) {
    ASSERT_EQ(times, 1);
    ASSERT_TRUE(edges.contains({edge.second, edge.first}));
  }
}

volume ball(std::size_t n) {
  volume v = tangle(n, n);
  std::size_t i = 0;
  for (std::size_t z = 0; z <= n; ++z)
    for (std::size_t y = 0; y <= n; ++y)
      for (std::size_t x = 0; x <= n; ++x, ++i) {
        const auto at = [&](std::size_t k) { return -3 + 6 * static_cast<double>(k) / static_cast<double>(n); };
        v.value[i] = static_cast<float>(4 - at(x) * at(x) - at(y) * at(y) - at(z) * at(z));
      }
  return v;
}

TEST(isosurface, of_a_ball_has_its_area_and_volume) {
  const auto all = surface_of(ball(51), 0);  // radius 2; the level is met at no point
  expect_closed(all);
  const measured_surface m = measure(all);
  EXPECT_NEAR(m.area, 16 * std::numbers::pi, 0.02 * 16 * std::numbers::pi);
  EXPECT_NEAR(m.volume, 32.0 / 3 * std::numbers::pi, 0.01 * 32.0 / 3 * std::numbers::pi) << "and points outwards";
  const measured_surface inner = measure(surface_of(ball(51), 3));
  EXPECT_NEAR(inner.area, 4 * std::numbers::pi, 0.04 * 4 * std::numbers::pi);
}

TEST(isosurface, of_the_default_is_closed) {
  const auto all = surface_of(tangle(44, 41), 0.0125F);  // higher than it need be
  EXPECT_GT(all.size(), 1000u);
  expect_closed(all);
  EXPECT_GT(measure(all).volume, 0);
  const auto middle = surface_of(tangle(10, 41), 0.0125F);
  EXPECT_GT(middle.size(), all.size() / 10);
  EXPECT_LT(middle.size(), all.size() / 2) << "a slice of it";
}

TEST(isosurface, table_is_symmetric) {
  for (unsigned inside = 0; inside < 256; ++inside) {
    EXPECT_EQ(cell_table[inside].count, cell_table[255 - inside].count);
    EXPECT_EQ(cell_table[inside].count == 0, inside == 0 || inside == 255);
    for (std::size_t t = 0; t < cell_table[inside].count; ++t) {
      for (const cell_edge e : cell_table[inside].of[t]) {
        EXPECT_EQ(e.low & e.high, e.low);
        EXPECT_NE(inside >> e.low & 1, inside >> e.high & 1);
      }
    }
  }
}

TEST(vtk, reads_text_and_binary) {
  const std::string head = "# vtk DataFile Version 3.0\na title\n",
                    body =
                        "DATASET STRUCTURED_POINTS\nDIMENSIONS 3 2 2\nORIGIN 1 2 3\nSPACING 0.5 1 2\n"
                        "POINT_DATA 12\nSCALARS density float 1\nLOOKUP_TABLE default\n";
  const volume text = read_vtk(file("text.vtk", head + "ASCII\n" + body + "0 1 2 3 4 5 6 7 8 9 10 -11.5\n"));
  EXPECT_EQ(text.nx, 3u);
  EXPECT_EQ(text.ny, 2u);
  EXPECT_EQ(text.origin[1], 2);
  EXPECT_EQ(text.spacing[2], 2);
  EXPECT_EQ(text.value[11], -11.5F);
  std::string bytes;
  for (int i = 0; i < 12; ++i) bytes += std::string{0x3F, static_cast<char>(0x80), 0, static_cast<char>(i)};
  const volume binary = read_vtk(file("binary.vtk", head + "BINARY\n" + body + bytes));
  EXPECT_EQ(binary.value[0], 1.0F);
  EXPECT_GT(binary.value[11], 1.0F);
  const auto error = [&](const std::string& all) { return error_of([&] { read_vtk(file("bad.vtk", all)); }); };
  EXPECT_THAT(error("nothing"), HasSubstr("expected a legacy VTK file"));
  EXPECT_THAT(error(head + "XML\n"), HasSubstr("expected ASCII or BINARY"));
  EXPECT_THAT(error(head + "ASCII\nDATASET POLYDATA\n"), HasSubstr("not 'POLYDATA'"));
  EXPECT_THAT(error(head + "ASCII\n" + body + "0 1 2"), HasSubstr("ends where a number should be"));
  EXPECT_THAT(error(head + "ASCII\n" + body + "0 1 2 3 4 nan 6 7 8 9 10 11"), HasSubstr("no number, or infinite"));
  EXPECT_THAT(error(head + "BINARY\n" + body + "abc"), HasSubstr("has 3 bytes of SCALARS, needs 48"));
  EXPECT_THAT(error(head + "ASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 1 2 2\n"), HasSubstr("2 to 4,097 points"));
  EXPECT_THAT(error(head + "ASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 2 2 2\nPOINT_DATA 7\n"),
              HasSubstr("POINT_DATA 7 of 8"));
  EXPECT_THAT(error_of([] { read_vtk("/nowhere/a.vtk"); }), HasSubstr("cannot be opened"));
}

TEST(surface, is_written_as_obj_and_as_vtk) {
  const std::vector<surface_triangle> all{{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}, {{{1, 0, 0}, {1, 1, 0}, {0, 1, 0}}}};
  const std::string obj = testing::TempDir() + "heddle_surface.obj", vtk = testing::TempDir() + "heddle_surface.vtk";
  write_surface(obj, all);
  write_surface(vtk, all);
  EXPECT_EQ(contents(obj), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n");
  EXPECT_THAT(contents(vtk), HasSubstr("DATASET POLYDATA\nPOINTS 4 float\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n"
                                       "POLYGONS 2 8\n3 0 1 2\n3 1 3 2\n"));
  EXPECT_THAT(error_of([&] { write_surface("a.stl", all); }), HasSubstr("NAME.obj or NAME.vtk"));
  EXPECT_THAT(error_of([&] { write_surface("/nowhere/a.obj", all); }), HasSubstr("cannot be written"));
}

template <class Backend, class Kernel>
auto run(settings s, unsigned workers, const char* variant) {
  captured.clear();
  s.kernel = "it";
  s.workers = workers;
  s.variant = variant;
  s.samples = 1;
  context c(s);
  Kernel::template execute<Backend>(c);
  c.check_variant();
  c.check_taken();
  return captured;
}
template <class Kernel>
void expect_same(const settings& s) {
  const std::uint64_t expected = run<serial_backend, Kernel>(s, 1, "").at("time").checksum;
  for (const char* variant : {"", "default"}) {
    EXPECT_EQ((run<serial_backend, Kernel>(s, 1, variant).at("time").checksum), expected);
    for (const unsigned workers : {1u, 2u, 3u, 4u, 8u}) {
      const auto given = run<heddle_backend, Kernel>(s, workers, variant);
      EXPECT_EQ(given.size(), *variant == 0 ? heddle_backend::schedules.size() + 1 : 1u);
      for (const auto& [metric, m] : given) EXPECT_EQ(m.checksum, expected) << metric << ", " << workers;
    }
  }
}
settings sized(std::size_t n, std::size_t iterations, std::size_t columns = 0) {
  settings s;
  s.n = n;
  s.iterations = iterations;
  s.columns = columns;
  return s;
}
TEST(loop_kernels, sweep_is_the_same_everywhere) { expect_same<sweep>(sized(20, 3, 17)); }
TEST(loop_kernels, spmv_is_the_same_everywhere) { expect_same<spmv>(sized(5000, 3, 60)); }
TEST(loop_kernels, convolve_is_the_same_everywhere) { expect_same<convolve>(sized(77, 2, 130)); }
TEST(loop_kernels, isosurface_is_the_same_everywhere) { expect_same<isosurface>(sized(24, 2, 31)); }

TEST(loop_kernels, read_and_write_files) {
  settings s = sized(10, 1);
  s.input = file("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n");
  EXPECT_EQ((run<heddle_backend, spmv>(s, 2, "default").size()), 1u);
  s.input = file("a.pgm", "P2 2 2 255 9 9 9 9");
  s.output = testing::TempDir() + "heddle_loop_kernels.pgm";
  run<heddle_backend, convolve>(s, 2, "default");
  EXPECT_EQ(contents(s.output), "P5\n2 2\n255\n\t\t\t\t");  // of one brightness, and stays so
  s.input.clear();
  s.output = testing::TempDir() + "heddle_loop_kernels.obj";
  s.level = 1;
  run<heddle_backend, isosurface>(s, 2, "default");
  EXPECT_THAT(contents(s.output), HasSubstr("\nf 1 2 3\n"));
  s.output = "a.stl";
  EXPECT_THAT(error_of([&] { run<serial_backend, isosurface>(s, 1, ""); }), HasSubstr("NAME.obj"));
  EXPECT_EQ(error_of([&] { run<serial_backend, spmv>(s, 1, ""); }), "--output: it takes none");
  EXPECT_EQ(error_of([&] { run<serial_backend, sweep>(sized(4, 1, 4), 1, "nope"); }),
            "--variant 'nope': it has default");
}

}  // namespace
}  // namespace loop_kernels_test
}  // namespace heddle::bench

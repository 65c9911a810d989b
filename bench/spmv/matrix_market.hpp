// Sparse matrices: the Matrix Market exchange format (Boisvert, Pozo, Remington, "The Matrix Market exchange formats:
// initial design", NIST 1996), coordinate form, and one that the program makes itself.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <istream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "harness/random.hpp"

namespace heddle::bench {

// Row i has the entries [begins[i], begins[i + 1]), by rising column.
struct sparse_matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<std::uint64_t> begins{0};
  std::vector<std::uint32_t> column;
  std::vector<double> value;
};

struct sparse_entry {
  std::uint32_t row, column;
  double value;
  std::size_t order = 0;  // in which it was given
};

// Entries of one place are added up, in the order in which they are given.
inline sparse_matrix sparse_from(std::size_t rows, std::size_t columns, std::vector<sparse_entry> entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].order = i;
  std::sort(entries.begin(), entries.end(), [](const sparse_entry& a, const sparse_entry& b) {
    return std::tie(a.row, a.column, a.order) < std::tie(b.row, b.column, b.order);
  });
  sparse_matrix m;
  m.rows = rows;
  m.columns = columns;
  m.begins.assign(rows + 1, 0);
  const sparse_entry* last = nullptr;
  for (const sparse_entry& e : entries) {
    if (last != nullptr && last->row == e.row && last->column == e.column) {
      m.value.back() += e.value;
    } else {
      m.column.push_back(e.column);
      m.value.push_back(e.value);
      ++m.begins[e.row + 1];
    }
    last = &e;
  }
  for (std::size_t i = 0; i < rows; ++i) m.begins[i + 1] += m.begins[i];
  return m;
}

// Reads a file line by line; every error names the file and the line.
class matrix_market_reader {
 public:
  matrix_market_reader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  sparse_matrix read() {
    read_header();
    do {
      if (!next()) fail("ends before the line with rows, columns and entries");
    } while (rest_.empty());
    const std::uint64_t rows = integer("rows"), columns = integer("columns"), count = integer("entries");
    end_of_line();
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    if (rows == 0 || columns == 0 || rows > most || columns > most)
      fail("rows and columns must be between 1 and 2^32 - 1");
    if (symmetry_ != symmetry::general && rows != columns) fail("a symmetric matrix is square");
    std::vector<sparse_entry> entries;
    for (std::uint64_t i = 0; i < count;) {
      if (!next()) fail("ends after " + std::to_string(i) + " of " + std::to_string(count) + " entries");
      if (rest_.empty()) continue;
      ++i;
      const std::uint64_t row = integer("a row"), column = integer("a column");
      if (row == 0 || row > rows || column == 0 || column > columns)
        fail(std::string("entry (")
                 .append(std::to_string(row))
                 .append(", ")
                 .append(std::to_string(column))
                 .append(") is outside of ")
                 .append(std::to_string(rows))
                 .append(" x ")
                 .append(std::to_string(columns))
                 .append("; the first row and column are 1"));
      const double value = pattern_ ? 1 : real();
      end_of_line();
      const auto r = static_cast<std::uint32_t>(row - 1), c = static_cast<std::uint32_t>(column - 1);
      entries.push_back({r, c, value});
      if (symmetry_ != symmetry::general && r != c)
        entries.push_back({c, r, symmetry_ == symmetry::skew ? -value : value});
    }
    while (next())
      if (!rest_.empty()) fail("more entries than the " + std::to_string(count) + " that were announced");
    return sparse_from(rows, columns, std::move(entries));
  }

 private:
  enum class symmetry { general, symmetric, skew };

  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(name_ + ":" + std::to_string(number_) + ": " + what);
  }
  // A line that is no comment.
  bool next() {
    while (std::getline(in_, line_)) {
      ++number_;
      rest_ = line_;
      skip();
      if (rest_.empty() || rest_[0] != '%') return true;
    }
    return false;
  }
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size())); }
  std::string_view word() {
    const std::string_view w = rest_.substr(0, rest_.find_first_of(" \t\r"));
    rest_.remove_prefix(w.size());
    skip();
    return w;
  }
  std::uint64_t integer(const char* what) {
    const std::string_view w = word();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(w.data(), w.data() + w.size(), value);
    if (error != std::errc() || end != w.data() + w.size())
      fail("expected the number of " + std::string(what) + ", found '" + std::string(w) + "'");
    return value;
  }
  double real() {
    std::string_view w = word();
    if (w.starts_with('+')) w.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(w.data(), w.data() + w.size(), value);
    if (error != std::errc() || end != w.data() + w.size()) fail("expected a value, found '" + std::string(w) + "'");
    return value;
  }
  void end_of_line() const {
    if (!rest_.empty()) fail(std::string("'").append(rest_).append("' after the end of what belongs there"));
  }
  void read_header() {
    if (!std::getline(in_, line_)) fail("is empty or cannot be read; expected a Matrix Market file");
    number_ = 1;
    std::transform(line_.begin(), line_.end(), line_.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    rest_ = line_;
    if (word() != "%%matrixmarket") fail("expected '%%MatrixMarket matrix coordinate ...' in the first line");
    if (word() != "matrix") fail("only matrices are read");
    if (word() != "coordinate") fail("only the coordinate form is read: a dense array is no sparse matrix");
    const std::string_view field = word();
    pattern_ = field == "pattern";
    if (!pattern_ && field != "real" && field != "double" && field != "integer")
      fail("values may be real, integer or pattern, not '" + std::string(field) + "'");
    const std::string_view kind = word();
    if (kind == "general") symmetry_ = symmetry::general;
    else if (kind == "symmetric") symmetry_ = symmetry::symmetric;
    else if (kind == "skew-symmetric") symmetry_ = symmetry::skew;
    else fail("a matrix may be general, symmetric or skew-symmetric, not '" + std::string(kind) + "'");
  }

  std::istream& in_;
  std::string name_, line_;
  std::string_view rest_;
  std::size_t number_ = 0;
  bool pattern_ = false;
  symmetry symmetry_ = symmetry::general;
};

// Throws std::invalid_argument with the line if the file is no such file.
inline sparse_matrix read_matrix_market(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::invalid_argument("--input " + path + ": cannot be opened");
  return matrix_market_reader(in, path).read();
}

// A mesh of n points, row by row, in rows of `width`: each is joined to its eight neighbours, and to up to seven points
// of the 17 rows around it. So points that follow each other read neighbouring parts of a vector, and have unequal
// numbers of entries; and how far apart the uses of a part are follows from the width.
inline sparse_matrix sparse_mesh(std::size_t n, std::size_t width) {
  if (n == 0 || n > std::numeric_limits<std::uint32_t>::max() || width == 0)
    throw std::invalid_argument("--n " + std::to_string(n) + ", --columns " + std::to_string(width) +
                                ": a mesh has 1 to 2^32 - 1 points, and at least one column");
  const std::size_t side = std::min(width, n), points = n;
  sparse_matrix m;
  m.rows = m.columns = points;
  m.begins.reserve(points + 1);
  std::vector<std::uint32_t> row;
  for (std::size_t i = 0; i < points; ++i) {
    row.clear();
    const std::size_t y = i / side, x = i % side;
    for (std::size_t b = y == 0 ? 0 : y - 1; b <= y + 1; ++b)
      for (std::size_t a = x == 0 ? 0 : x - 1; a <= std::min(x + 1, side - 1); ++a)
        if (b * side + a < points) row.push_back(static_cast<std::uint32_t>(b * side + a));
    const std::size_t first = y < 8 ? 0 : (y - 8) * side, last = std::min(points, (y + 9) * side);
    for (std::size_t k = 0; k < mix64(i) % 8; ++k)
      row.push_back(static_cast<std::uint32_t>(first + mix64(i * 8 + k + 1) % (last - first)));
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (const std::uint32_t j : row) {
      m.column.push_back(j);
      m.value.push_back(j == i ? 1 : -1.0 / 32 * static_cast<double>(1 + mix64(i ^ (std::uint64_t{j} << 32)) % 2));
    }
    m.begins.push_back(m.column.size());
  }
  return m;
}

}  // namespace heddle::bench

#include "tsv.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace heddle::bench::decision_tree {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Cut, so that a binary file does not flood the terminal.
std::string quoted(std::string_view text) {
  std::string shown;
  for (char c : text.substr(0, 24)) shown += c >= ' ' && c <= '~' ? c : '?';
  return "'" + shown + (text.size() > 24 ? "...'" : "'");
}

}  // namespace

void tsv_parser::fail(std::size_t line, std::string const& what) const {
  throw data_error(name_ + ":" + std::to_string(line) + ": " + what);
}

void tsv_parser::feed(std::string_view block) {
  while (true) {
    std::size_t const end = block.find('\n');
    if (end == std::string_view::npos) break;
    if (rest_.empty()) {
      parse_line(block.substr(0, end));
    } else {
      rest_.append(block.substr(0, end));
      parse_line(rest_);
      rest_.clear();
    }
    block.remove_prefix(end + 1);
  }
  rest_.append(block);
}

dataset tsv_parser::finish() {
  if (!rest_.empty()) parse_line(rest_);
  rest_.clear();
  if (data_.rows() == 0)
    throw data_error(name_ +
                     ": is empty; one row a line is expected: label 0 or 1, then the features, separated by tabs");
  return std::move(data_);
}

double tsv_parser::parse_number(std::string_view field, std::size_t column) const {
  std::string_view const text = trim(field);
  auto const where = [&] { return "column " + std::to_string(column + 1); };
  if (text.empty()) fail(line_, where() + " is empty: missing values are not supported; fill it in or remove the line");
  bool const plus = text.front() == '+' && text.size() > 1 && text[1] != '-';
  char const* const begin = text.data() + (plus ? 1 : 0);
  char const* const end = text.data() + text.size();
  double value = 0;
  auto const [stop, error] = std::from_chars(begin, end, value);
  bool const range = error == std::errc::result_out_of_range;
  if (stop != end || (error != std::errc{} && !range)) {
    bool const header = line_ == 1 && data_.rows() == 0;
    fail(line_, where() + " holds " + quoted(text) + ", not a number; " +
                    (header ? "if this is a line of column names, remove it"
                            : "write it as a decimal number or remove the line"));
  }
  if (!std::isfinite(value))
    fail(line_, where() + " holds " + quoted(text) + ", not a finite number; fill it in or remove the line");
  if (range || std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
    fail(line_, where() + " holds " + quoted(text) +
                    ", outside the range of single precision; scale the column or remove the line");
  }
  return value;
}

void tsv_parser::first_row(std::string_view line) {
  std::size_t const found = static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) + 1;
  if (columns_ == 0) {
    if (found < 2) {
      bool const commas = line.find(',') != std::string_view::npos;
      fail(line_, std::string("expected a label and at least one feature, separated by tabs, found 1 column; ") +
                      (commas ? "the line has commas: convert it with tr ',' '\\t'" : "separate the columns by tabs"));
    }
    columns_ = found;
  }
  data_.columns.resize(columns_ - 1);
}

void tsv_parser::parse_line(std::string_view line) {
  ++line_;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.empty()) {
    if (blank_line_ == 0) blank_line_ = line_;
    return;
  }
  if (blank_line_ != 0)
    fail(blank_line_,
         "blank line before line " + std::to_string(line_) + "; remove it (blank lines may stand at the end only)");
  if (data_.rows() == 0) first_row(line);

  // Fields are counted before they are read: a shifted row is reported as such, not as whatever its label has become.
  std::size_t const found = static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) + 1;
  if (found != columns_) {
    fail(line_, "expected " + std::to_string(columns_) + " columns (the label and " + std::to_string(columns_ - 1) +
                    " features), found " + std::to_string(found) + "; complete or remove the line");
  }
  std::size_t begin = 0;
  for (std::size_t column = 0; column < columns_; ++column) {
    std::size_t const end = std::min(line.find('\t', begin), line.size());
    double const value = parse_number(line.substr(begin, end - begin), column);
    begin = end + 1;
    if (column > 0) {
      data_.columns[column - 1].push_back(static_cast<float>(value));
    } else if (value == 0 || value == 1) {
      data_.labels.push_back(static_cast<std::uint8_t>(value));
    } else {
      fail(line_, "the label is " + quoted(trim(line.substr(0, end))) +
                      ", expected 0 or 1 in the first column; recode the classes");
    }
  }
}

dataset read_tsv(std::string const& path, std::size_t columns) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) throw data_error(path + ": cannot be opened: " + std::strerror(errno));
  tsv_parser parser(path, columns);
  std::vector<char> block(block_bytes);
  while (std::size_t const got = std::fread(block.data(), 1, block.size(), file.get()))
    parser.feed({block.data(), got});
  if (std::ferror(file.get()) != 0) throw data_error(path + ": cannot be read: " + std::strerror(errno));
  return parser.finish();
}

training_data read_training_data(std::string const& path, std::string const& test) {
  dataset all = read_tsv(path);
  training_data data;
  if (test.empty()) {
    data = hold_out_last_tenth(std::move(all), path);
  } else {
    std::size_t const columns = all.features() + 1;
    data.train = std::move(all);
    data.test = read_tsv(test, columns);
  }
  require_trainable(data, path);
  return data;
}

}  // namespace heddle::bench::decision_tree

// Reader of tab-separated training data: label, then the features, one row a line.
#pragma once

#include "dataset.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::bench::decision_tree {

// Parses text that arrives in blocks, so that a whole file never has to be in memory. The first line fixes the number
// of columns. Lines end with LF or CRLF, and the last may lack its end. Blank lines may stand at the end only. Labels
// are 0 or 1 in any notation (the UCI file of HIGGS writes 1.000000000000000000e+00). Features are any finite numbers
// in the range of single precision.
class tsv_parser {
 public:
  // `name` stands in messages for the file. `columns`: how many to expect; 0 takes those of the first line.
  explicit tsv_parser(std::string name, std::size_t columns = 0) : name_(std::move(name)), columns_(columns) {}

  // Throws data_error "FILE:LINE: what; fix".
  void feed(std::string_view block);

  // Throws data_error for data without rows.
  dataset finish();

 private:
  void parse_line(std::string_view line);
  void first_row(std::string_view line);
  [[nodiscard]] double parse_number(std::string_view field, std::size_t column) const;
  [[noreturn]] void fail(std::size_t line, std::string const& what) const;

  std::string name_;
  std::size_t columns_;
  std::size_t line_ = 0;
  std::size_t blank_line_ = 0;  // first blank line seen, 0 for none
  std::string rest_;            // of a line whose end has not been seen
  dataset data_;
};

// Throws data_error, also for a file that cannot be read.
dataset read_tsv(std::string const& path, std::size_t columns = 0);

// Training rows from one file; held-out rows from the other, or the last tenth of the first where `test` is empty.
training_data read_training_data(std::string const& path, std::string const& test);

}  // namespace heddle::bench::decision_tree

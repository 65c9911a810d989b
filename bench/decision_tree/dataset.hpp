// Training data: labels 0/1 and continuous features, one column a feature. Columns, because everything that touches the
// raw values (quantisation, the search for cut points) goes through one feature at a time; the trainer then makes its
// own row-major copy of one byte a value (binning.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::bench::decision_tree {

// An error in the user's data. The message names the file, the line where there is one, and the remedy.
struct data_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct dataset {
  std::vector<std::vector<float>> columns;  // columns[feature][row], all finite
  std::vector<std::uint8_t> labels;         // 0 or 1

  [[nodiscard]] std::size_t rows() const { return labels.size(); }
  [[nodiscard]] std::size_t features() const { return columns.size(); }
  void resize(std::size_t rows, std::size_t features);
};

struct training_data {
  dataset train;
  dataset test;  // held out
};

// At least 2 training rows and 1 held-out row, the same features in both, both classes among the training rows.
// `name` stands for the data in the message. Throws data_error.
void require_trainable(training_data const& data, std::string const& name);

// Moves the last tenth of the rows, at least one, to the held-out part. Throws data_error for fewer than 10 rows.
training_data hold_out_last_tenth(dataset all, std::string const& name);

// A file in this machine's byte order, for processes that work on the same data one after the other.
// Both throw data_error naming the file.
void save_binary(training_data const& data, std::string const& path);
training_data load_binary(std::string const& path);

}  // namespace heddle::bench::decision_tree

#include "dataset.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace heddle::bench::decision_tree {

namespace {

constexpr std::array<char, 8> magic{'h', 'e', 'd', 't', 'r', 'e', 'e', '1'};

struct file_header {
  std::array<char, 8> magic;
  std::uint64_t train_rows;
  std::uint64_t test_rows;
  std::uint64_t features;
};

struct close_file {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, close_file>;

file_handle open(std::string const& path, char const* mode) {
  file_handle file(std::fopen(path.c_str(), mode));
  if (!file) throw data_error(path + ": " + std::strerror(errno));
  return file;
}

template <class T>
void write(std::FILE* file, T const* data, std::size_t count, std::string const& path) {
  if (std::fwrite(data, sizeof(T), count, file) != count)
    throw data_error(path + ": cannot write: " + std::strerror(errno));
}

template <class T>
void read(std::FILE* file, T* data, std::size_t count, std::string const& path) {
  if (std::fread(data, sizeof(T), count, file) != count) throw data_error(path + ": ends too early; prepare it again");
}

}  // namespace

void dataset::resize(std::size_t rows, std::size_t features) {
  columns.resize(features);
  for (auto& column : columns) column.resize(rows);
  labels.resize(rows);
}

void require_trainable(training_data const& data, std::string const& name) {
  dataset const& train = data.train;
  if (train.rows() < 2) {
    throw data_error(name + ": has " + std::to_string(train.rows()) + " training rows; at least 2 are needed");
  }
  if (data.test.rows() == 0) throw data_error(name + ": no row is held out; at least 1 is needed");
  if (train.features() != data.test.features()) {
    throw data_error(name + ": the training rows have " + std::to_string(train.features()) +
                     " features, the held-out rows " + std::to_string(data.test.features()) +
                     "; both files must have the same columns");
  }
  auto const positives =
      static_cast<std::size_t>(std::count(train.labels.begin(), train.labels.end(), std::uint8_t{1}));
  if (positives == 0 || positives == train.rows()) {
    throw data_error(name + ": all " + std::to_string(train.rows()) + " training rows have label " +
                     (positives == 0 ? "0" : "1") +
                     "; both classes are needed (if the rows are sorted by label, shuffle them)");
  }
}

training_data hold_out_last_tenth(dataset all, std::string const& name) {
  std::size_t const rows = all.rows();
  if (rows < 10) {
    throw data_error(name + ": has " + std::to_string(rows) + (rows == 1 ? " row" : " rows") +
                     "; at least 10 are needed to hold out a tenth (or name a file of held-out rows with --test)");
  }
  std::size_t const kept = rows - rows / 10;
  training_data result;
  auto const cut = static_cast<std::ptrdiff_t>(kept);
  for (auto& column : all.columns) {
    result.test.columns.emplace_back(column.begin() + cut, column.end());
    column.resize(kept);
    result.train.columns.push_back(std::move(column));
  }
  result.test.labels.assign(all.labels.begin() + cut, all.labels.end());
  all.labels.resize(kept);
  result.train.labels = std::move(all.labels);
  return result;
}

void save_binary(training_data const& data, std::string const& path) {
  file_handle const file = open(path, "wb");
  file_header const header{magic, data.train.rows(), data.test.rows(), data.train.features()};
  write(file.get(), &header, 1, path);
  for (dataset const* part : {&data.train, &data.test}) {
    write(file.get(), part->labels.data(), part->rows(), path);
    for (auto const& column : part->columns) write(file.get(), column.data(), column.size(), path);
  }
  if (std::fflush(file.get()) != 0) throw data_error(path + ": cannot write: " + std::strerror(errno));
}

training_data load_binary(std::string const& path) {
  file_handle const file = open(path, "rb");
  file_header header{};
  read(file.get(), &header, 1, path);
  if (header.magic != magic) throw data_error(path + ": not a file made by --prepare");
  training_data data;
  data.train.resize(header.train_rows, header.features);
  data.test.resize(header.test_rows, header.features);
  for (dataset* part : {&data.train, &data.test}) {
    read(file.get(), part->labels.data(), part->rows(), path);
    for (auto& column : part->columns) read(file.get(), column.data(), column.size(), path);
  }
  return data;
}

}  // namespace heddle::bench::decision_tree

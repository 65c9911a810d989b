#include "bench/decision_tree/tsv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace heddle::bench::decision_tree {
namespace tsv_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

dataset parse(std::string const& text, std::size_t columns = 0) {
  tsv_parser parser("rows.tsv", columns);
  parser.feed(text);
  return parser.finish();
}

std::string error_of(std::string const& text, std::size_t columns = 0) {
  try {
    parse(text, columns);
  } catch (data_error const& error) {
    return error.what();
  }
  return "no error";
}

class file {
 public:
  explicit file(std::string const& text)
      : path_(std::filesystem::temp_directory_path() / ("heddle_tsv_" + std::to_string(std::random_device{}()))) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  file(file const&) = delete;
  file& operator=(file const&) = delete;
  ~file() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(tsv, reads_labels_and_features) {
  dataset const data = parse("1\t0.5\t-2\n0\t1e-3\t+7.25\n");
  EXPECT_THAT(data.labels, ElementsAre(1, 0));
  ASSERT_EQ(data.features(), 2u);
  EXPECT_THAT(data.columns[0], ElementsAre(0.5f, 1e-3f));
  EXPECT_THAT(data.columns[1], ElementsAre(-2.0f, 7.25f));
}

TEST(tsv, accepts_labels_in_the_notation_of_higgs) {
  EXPECT_THAT(parse("1.000000000000000000e+00\t5\n0.000000000000000000e+00\t6\n").labels, ElementsAre(1, 0));
}

TEST(tsv, accepts_crlf_missing_last_newline_and_blank_lines_at_the_end) {
  for (char const* text :
       {"1\t2\r\n0\t3\r\n", "1\t2\n0\t3", "1\t2\r\n0\t3", "1\t2\n0\t3\n\n\r\n\n", "1\t 2 \n0\t3\n"}) {
    dataset const data = parse(text);
    EXPECT_THAT(data.labels, ElementsAre(1, 0)) << text;
    EXPECT_THAT(data.columns.at(0), ElementsAre(2, 3)) << text;
  }
}

TEST(tsv, does_not_depend_on_where_blocks_end) {
  std::string const text = "1\t0.125\t-3\r\n0\t17\t4e2\r\n1\t-0.5\t6\n\n";
  dataset const whole = parse(text);
  for (std::size_t size = 1; size < text.size(); ++size) {
    tsv_parser parser("rows.tsv");
    for (std::size_t at = 0; at < text.size(); at += size) parser.feed(std::string_view(text).substr(at, size));
    dataset const pieces = parser.finish();
    EXPECT_EQ(pieces.labels, whole.labels) << size;
    EXPECT_EQ(pieces.columns, whole.columns) << size;
  }
}

TEST(tsv, counts_columns) {
  EXPECT_THAT(error_of("1\t2\t3\n0\t4\n"), AllOf(StartsWith("rows.tsv:2: "), HasSubstr("expected 3 columns"),
                                                 HasSubstr("found 2"), HasSubstr("remove the line")));
  EXPECT_THAT(error_of("1\t2\t3\n0\t4\t5\n0\t4\t5\t6\n"),
              AllOf(StartsWith("rows.tsv:3: "), HasSubstr("expected 3 columns"), HasSubstr("found 4")));
  EXPECT_THAT(error_of("1\t2\n", 5),
              AllOf(StartsWith("rows.tsv:1: "), HasSubstr("expected 5 columns"), HasSubstr("found 2")));
}

TEST(tsv, names_the_line_of_a_row_that_blocks_cut) {
  tsv_parser parser("rows.tsv");
  parser.feed("1\t2\n0\t");
  parser.feed("3\n0\t");
  EXPECT_THROW(
      {
        try {
          parser.feed("x\n");
        } catch (data_error const& error) {
          EXPECT_THAT(error.what(), StartsWith("rows.tsv:3: column 2 holds 'x'"));
          throw;
        }
      },
      data_error);
}

TEST(tsv, needs_tabs) {
  EXPECT_THAT(error_of("1,2,3\n"), AllOf(StartsWith("rows.tsv:1: "), HasSubstr("tabs"), HasSubstr("tr ',' '\\t'")));
  EXPECT_THAT(error_of("1 2 3\n"), AllOf(StartsWith("rows.tsv:1: "), HasSubstr("separate the columns by tabs")));
}

TEST(tsv, names_missing_values) {
  EXPECT_THAT(error_of("1\t2\t3\n0\t\t3\n"),
              AllOf(StartsWith("rows.tsv:2: column 2 is empty"), HasSubstr("missing values")));
  EXPECT_THAT(error_of("1\t2\t3\n0\t1\t\n"), StartsWith("rows.tsv:2: column 3 is empty"));
  EXPECT_THAT(error_of("1\t2\t3\n\t1\t3\n"), StartsWith("rows.tsv:2: column 1 is empty"));
  EXPECT_THAT(error_of("1\t2\t3\r\n0\t1\t\r\n"), StartsWith("rows.tsv:2: column 3 is empty"));
}

TEST(tsv, names_what_is_not_a_number) {
  EXPECT_THAT(error_of("1\t2\n0\tabc\n"), StartsWith("rows.tsv:2: column 2 holds 'abc', not a number"));
  EXPECT_THAT(error_of("1\t2\n0\t1.5x\n"), StartsWith("rows.tsv:2: column 2 holds '1.5x', not a number"));
  EXPECT_THAT(error_of("1\t2\n0\t+-1\n"), StartsWith("rows.tsv:2: column 2 holds '+-1', not a number"));
  EXPECT_THAT(error_of("class\tx\n0\t1\n"),
              AllOf(StartsWith("rows.tsv:1: column 1 holds 'class'"), HasSubstr("column names, remove it")));
}

TEST(tsv, names_what_is_not_finite) {
  for (char const* value : {"nan", "NaN", "inf", "-inf", "infinity"}) {
    EXPECT_THAT(error_of("1\t2\n0\t" + std::string(value) + "\n"),
                AllOf(StartsWith("rows.tsv:2: column 2 holds "), HasSubstr(value), HasSubstr("not a finite number")))
        << value;
  }
  EXPECT_THAT(error_of("1\t2\n0\t1e39\n"),
              AllOf(StartsWith("rows.tsv:2: column 2 "), HasSubstr("range of single precision")));
  EXPECT_THAT(error_of("1\t2\n0\t1e999\n"),
              AllOf(StartsWith("rows.tsv:2: column 2 "), HasSubstr("range of single precision")));
}

TEST(tsv, names_labels_that_are_not_classes) {
  for (char const* label : {"2", "-1", "0.5"}) {
    EXPECT_THAT(error_of("1\t2\n" + std::string(label) + "\t3\n"),
                AllOf(StartsWith("rows.tsv:2: the label is '" + std::string(label) + "'"), HasSubstr("0 or 1")))
        << label;
  }
}

TEST(tsv, allows_blank_lines_at_the_end_only) {
  EXPECT_THAT(error_of("1\t2\n\n\n0\t3\n"),
              AllOf(StartsWith("rows.tsv:2: blank line"), HasSubstr("line 4"), HasSubstr("remove it")));
}

TEST(tsv, names_an_empty_file) {
  for (char const* text : {"", "\n", "\r\n\n"}) EXPECT_THAT(error_of(text), StartsWith("rows.tsv: is empty")) << text;
  file const empty("");
  EXPECT_THROW(read_tsv(empty.path()), data_error);
}

TEST(tsv, names_a_file_that_cannot_be_read) {
  auto const error = [](std::string const& path) -> std::string {
    try {
      read_tsv(path);
    } catch (data_error const& failed) {
      return failed.what();
    }
    return "no error";
  };
  EXPECT_THAT(error("/nonexistent/rows.tsv"),
              AllOf(StartsWith("/nonexistent/rows.tsv: cannot be opened"), HasSubstr("No such file")));
  EXPECT_THAT(error("/"), AllOf(StartsWith("/: cannot be read"), HasSubstr("directory")));
}

std::string error_of_files(std::string const& train, std::string const& test) {
  try {
    read_training_data(train, test);
  } catch (data_error const& error) {
    return error.what();
  }
  return "no error";
}

TEST(training_data, holds_out_the_last_tenth) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += std::to_string(i % 2) + "\t" + std::to_string(i) + "\n";
  file const rows(text);
  training_data const data = read_training_data(rows.path(), "");
  EXPECT_EQ(data.train.rows(), 23u);
  EXPECT_THAT(data.test.columns.at(0), ElementsAre(23, 24));
  EXPECT_THAT(data.test.labels, ElementsAre(1, 0));
}

TEST(training_data, takes_a_file_of_held_out_rows) {
  file const rows("1\t2\n0\t3\n");
  file const held_out("1\t4\n");
  training_data const data = read_training_data(rows.path(), held_out.path());
  EXPECT_EQ(data.train.rows(), 2u);
  EXPECT_THAT(data.test.columns.at(0), ElementsAre(4));
  file const other("1\t4\t5\n");
  EXPECT_THAT(error_of_files(rows.path(), other.path()),
              AllOf(StartsWith(other.path() + ":1: "), HasSubstr("expected 2 columns")));
}

TEST(training_data, needs_rows_and_both_classes) {
  file const few("1\t2\n0\t3\n");
  EXPECT_THAT(error_of_files(few.path(), ""), AllOf(StartsWith(few.path()), HasSubstr("has 2 rows; at least 10")));
  file const one("1\t2\n");
  EXPECT_THAT(error_of_files(one.path(), few.path()), HasSubstr("has 1 training rows; at least 2"));
  std::string same;
  for (int i = 0; i < 20; ++i) same += "1\t2\n";
  file const ones(same);
  EXPECT_THAT(
      error_of_files(ones.path(), ""),
      AllOf(StartsWith(ones.path()), HasSubstr("all 18 training rows have label 1"), HasSubstr("both classes")));
  // The one row of the other class is held out.
  file const sorted(same + "0\t2\n");
  EXPECT_THAT(error_of_files(sorted.path(), ""), HasSubstr("shuffle"));
  file const zeros("0\t2\n0\t3\n");
  EXPECT_THAT(error_of_files(zeros.path(), few.path()), HasSubstr("have label 0"));
}

TEST(training_data, survives_the_binary_file) {
  file const rows("1\t2\t-0.5\n0\t3\t8\n1\t3\t9\n");
  file const held_out("0\t4\t0.25\n");
  training_data const data = read_training_data(rows.path(), held_out.path());
  file const binary("");
  save_binary(data, binary.path());
  training_data const again = load_binary(binary.path());
  EXPECT_EQ(again.train.columns, data.train.columns);
  EXPECT_EQ(again.train.labels, data.train.labels);
  EXPECT_EQ(again.test.columns, data.test.columns);
  EXPECT_EQ(again.test.labels, data.test.labels);

  EXPECT_THROW(load_binary(rows.path()), data_error);
  std::filesystem::resize_file(binary.path(), std::filesystem::file_size(binary.path()) - 1);
  EXPECT_THROW(load_binary(binary.path()), data_error);
}

}  // namespace
}  // namespace tsv_test
}  // namespace heddle::bench::decision_tree

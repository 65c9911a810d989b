#include "base/wrapped.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace heddle::base {
namespace wrapped_test {
namespace {

TEST(wrapped, breaks_at_blanks_and_keeps_within_the_columns) {
  EXPECT_EQ(wrapped("one two three", 0, 7), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 2, 9), "  one two\n  three");
  EXPECT_EQ(wrapped("", 2, 9), "  ");
}

TEST(wrapped, a_word_that_is_too_long_stands_alone) {
  EXPECT_EQ(wrapped("a incomprehensibly b", 0, 5), "a\nincomprehensibly\nb");
}

TEST(wrapped, newlines_of_the_text_stay) { EXPECT_EQ(wrapped("one\ntwo three", 1, 80), " one\n two three"); }

TEST(two_columns, wraps_the_second_one) {
  const std::vector<std::pair<std::string, std::string>> lines{
      {"a", "first"}, {"long", "second text that does not fit into what is left of a line of eighty columns, so"}};
  EXPECT_EQ(two_columns(
                lines, [](const auto& line) -> const std::string& { return line.first; },
                [](const auto& line) -> const std::string& { return line.second; }),
            "  a     first\n"
            "  long  second text that does not fit into what is left of a line of eighty\n"
            "        columns, so\n");
}

}  // namespace
}  // namespace wrapped_test
}  // namespace heddle::base

// Running text in lines for a terminal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::base {

inline constexpr std::size_t terminal_columns = 80;

// Returns `text` in lines of at most `columns` columns, blanks included, each behind `indent` blanks. A word that is
// longer stands alone. Newlines of the text are kept. The result ends without a newline.
std::string wrapped(std::string_view text, std::size_t indent = 0, std::size_t columns = terminal_columns);

// Returns the lines "name  text" of a table: the names behind two blanks, the texts wrapped in a column of their own.
template <class Lines, class Name, class Text>
std::string two_columns(const Lines& lines, Name name, Text text) {
  std::size_t width = 0;
  for (const auto& line : lines) width = std::max(width, std::string_view(name(line)).size());
  std::string table;
  for (const auto& line : lines) {
    const std::string_view left = name(line);
    std::string right = wrapped(text(line), width + 4);
    right.replace(0, width + 4, "  " + std::string(left) + std::string(width + 2 - left.size(), ' '));
    table += right + "\n";
  }
  return table;
}

}  // namespace heddle::base

#include "tools/help/wrapped.hpp"

namespace heddle::tools {

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  const std::string margin(indent, ' ');
  std::string lines = margin;
  std::size_t used = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const bool first = used == indent;
    if (!first && used + 1 + end > columns) {
      lines += "\n" + margin;
      used = indent;
    } else if (!first) {
      lines += ' ';
      ++used;
    }
    lines += text.substr(0, end);
    used += end;
    const bool newline = end < text.size() && text[end] == '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
    if (newline) {
      lines += "\n" + margin;
      used = indent;
    }
  }
  return lines;
}

}  // namespace heddle::tools

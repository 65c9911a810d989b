// The table of options as text and as Markdown.
#include <algorithm>

#include "base/options.hpp"

namespace heddle::base {

namespace {

// `text` in lines of at most `width` characters, each behind `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string lines;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (used != 0 && used + 1 + end > width) {
      lines += '\n';
      used = 0;
    }
    lines += used == 0 ? std::string(indent, ' ') : std::string(1, ' ');
    lines += text.substr(0, end);
    used += end + (used == 0 ? 0 : 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines + "\n";
}

std::string default_of(const option& o) {
  if (o.preset.empty()) return "none";
  return o.unit.empty() ? o.preset : o.preset + " " + o.unit;
}

std::string escaped(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

}  // namespace

std::string options_text() {
  std::string page;
  for (const option& o : options()) {
    page += o.variable + "  (in code: " + o.key + ")\n";
    page += wrapped(o.values + "; default " + default_of(o), 4, 92);
    page += wrapped(o.text, 4, 92);
  }
  return page;
}

std::string options_markdown() {
  std::string page = "| variable | in code | default | values | what it does, and the trade-off |\n| --- | --- | --- | --- | --- |\n";
  for (const option& o : options()) {
    page += "| `" + o.variable + "` | `" + o.key + "` | " + escaped(default_of(o)) + " | " + escaped(o.values) + " | " + escaped(o.text) + " |\n";
  }
  return page;
}

}  // namespace heddle::base

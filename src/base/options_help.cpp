// The table of options as text and as Markdown.
#include "base/options.hpp"
#include "base/wrapped.hpp"

namespace heddle::base {

namespace {

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
    page += wrapped(o.values + "; default " + default_of(o), 4) + "\n";
    page += wrapped(o.text, 4) + "\n";
  }
  return page;
}

std::string options_markdown() {
  std::string page =
      "| variable | in code | default | values | what it does, and the trade-off |\n| --- | --- | --- | --- | --- |\n";
  for (const option& o : options()) {
    page += "| `" + o.variable + "` | `" + o.key + "` | " + escaped(default_of(o)) + " | " + escaped(o.values) + " | " +
            escaped(o.text) + " |\n";
  }
  return page;
}

}  // namespace heddle::base

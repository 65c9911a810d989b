#include "tools/help/options_help.hpp"

#include "base/options.hpp"
#include "tools/help/wrapped.hpp"

namespace heddle::tools {

namespace {

std::string default_of(const base::option& o) {
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
  for (const base::option& o : base::options()) {
    page += o.variable + "  (in code: " + o.key + ")\n";
    page += wrapped(o.values + "; default " + default_of(o), 4) + "\n";
    page += wrapped(o.text, 4) + "\n";
  }
  return page;
}

std::string options_markdown() {
  std::string page =
      "| variable | in code | default | values | what it does, and the trade-off |\n| --- | --- | --- | --- | --- |\n";
  for (const base::option& o : base::options()) {
    page += "| `" + o.variable + "` | `" + o.key + "` | " + escaped(default_of(o)) + " | " + escaped(o.values) + " | " +
            escaped(o.text) + " |\n";
  }
  return page;
}

}  // namespace heddle::tools

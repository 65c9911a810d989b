// The table of options for people: text for a terminal, Markdown for docs/guide/options.md.
#pragma once

#include <string>

namespace heddle::tools {

std::string options_text();
std::string options_markdown();

}  // namespace heddle::tools

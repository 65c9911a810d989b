// The list of events for people.
#pragma once

#include <string>

namespace heddle::trace {

// Returns all spans and events as aligned text (`heddle report --events`).
[[nodiscard]] std::string legend_text();

// Returns the same as two Markdown tables (docs/guide/tracing.md).
[[nodiscard]] std::string legend_markdown();

}  // namespace heddle::trace

// The list of events for people.
#pragma once

#include <string>

namespace heddle::trace {

// All spans and events as aligned text (`heddle report --events`).
[[nodiscard]] std::string legend_text();

// The same as two Markdown tables (docs/guide/tracing.md).
[[nodiscard]] std::string legend_markdown();

}  // namespace heddle::trace

// The event list as text, for trace files, for people, and for the guide.
#pragma once

#include <string>

#include "trace/events.hpp"

namespace heddle::trace {

// Returns "kind:count,task:task,function:address"; a dash stands for an unused slot. A reader must have the same fields
// to decode a record.
[[nodiscard]] std::string legend_fields(const event_info& e);

// Returns "opens task", "closes steal as idle", "point" ...
[[nodiscard]] std::string legend_effect(const event_info& e);

// Returns all spans and events as aligned text (`heddle report --events`).
[[nodiscard]] std::string legend_text();

// Returns the same as two Markdown tables (docs/guide/tracing.md).
[[nodiscard]] std::string legend_markdown();

}  // namespace heddle::trace

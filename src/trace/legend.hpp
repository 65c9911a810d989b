// The event list as text: for trace files, for people, for the guide.
#pragma once

#include <string>

#include "trace/events.hpp"

namespace heddle::trace {

// "kind:count,task:task,function:address"; a dash stands for an unused slot. What a reader must
// agree on to decode a record.
[[nodiscard]] std::string legend_fields(const event_info& e);

// "opens task", "closes steal as idle", "point" ...
[[nodiscard]] std::string legend_effect(const event_info& e);

// All spans and events as aligned text (`heddle report --events`).
[[nodiscard]] std::string legend_text();

// The same as two Markdown tables (docs/guide/tracing.md).
[[nodiscard]] std::string legend_markdown();

}  // namespace heddle::trace

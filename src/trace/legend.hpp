// The event list as text in trace files. tools/trace/legend_tables.hpp has it for people.
#pragma once

#include <string>

#include "trace/events.hpp"

namespace heddle::trace {

// Returns "kind:count,task:task,function:address"; a dash stands for an unused slot. A reader must have the same fields
// to decode a record.
[[nodiscard]] std::string legend_fields(const event_info& e);

// Returns "opens task", "closes steal as idle", "point" ...
[[nodiscard]] std::string legend_effect(const event_info& e);

}  // namespace heddle::trace

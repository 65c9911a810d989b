// Summaries as text and JSON: what `heddle report` prints.
#pragma once

#include <string>
#include <vector>

#include "trace/summary.hpp"

namespace heddle::trace {

struct named_summary {
  std::string name;  // of the file
  summary what;
};

// A table of workers and the statistics for each trace; for several, then a table with one column a
// trace.
[[nodiscard]] std::string report_text(const std::vector<named_summary>& traces);

// {"traces":[{"file", "program", "machine", "policy", "wall_ns", "workers":[..], "total":{..},
// "statistics":{..}}]}
[[nodiscard]] std::string report_json(const std::vector<named_summary>& traces);

}  // namespace heddle::trace

// Summaries as text and JSON: what `heddle report` prints.
#pragma once

#include <string>
#include <vector>

#include "tools/trace/diagnosis.hpp"
#include "tools/trace/summary.hpp"

namespace heddle::trace {

struct named_summary {
  std::string name;  // of the file
  summary what;
  std::vector<finding> findings = {};
};

// The findings, a table of workers and the statistics for each trace; for several, then a table with one column a
// trace.
[[nodiscard]] std::string report_text(const std::vector<named_summary>& traces);

// {"traces":[{"file", "program", "machine", "policy", "wall_ns", "diagnosis":[..], "workers":[..],
// "total":{..}, "statistics":{..}}]}
// [{"kind", "share", "text", "worker", "begin_ns", "end_ns"}], times since the run's first event.
[[nodiscard]] std::string findings_json(const std::vector<finding>& findings);

[[nodiscard]] std::string report_json(const std::vector<named_summary>& traces);

}  // namespace heddle::trace

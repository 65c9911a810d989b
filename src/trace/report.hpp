// Summaries as text and JSON, as `heddle report` prints them.
#pragma once

#include <string>
#include <vector>

#include "trace/diagnosis.hpp"
#include "trace/summary.hpp"

namespace heddle::trace {

struct named_summary {
  std::string name;  // of the file
  summary what;
  std::vector<finding> findings = {};
};

// Returns the findings, a table of workers and the statistics for each trace. If there are several traces, a table with
// one column for each follows.
[[nodiscard]] std::string report_text(const std::vector<named_summary>& traces);

// {"traces":[{"file", "program", "machine", "policy", "wall_ns", "diagnosis":[..], "workers":[..],
// "total":{..}, "statistics":{..}}]}
// [{"kind", "share", "text", "worker", "begin_ns", "end_ns"}], times since the run's first event.
[[nodiscard]] std::string findings_json(const std::vector<finding>& findings);

[[nodiscard]] std::string report_json(const std::vector<named_summary>& traces);

}  // namespace heddle::trace

// What runs of the command write of themselves, read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/paper/outcome.hpp"
#include "trace/recording.hpp"

namespace heddle::cli::paper {

// The median of the first row with this runtime and, if given, this policy and metric (empty: any) of a file that
// `heddle bench --json` or `heddle demo --json` wrote, in seconds where its unit is one of time. Throws unavailable.
double seconds_in(const std::string& file, const std::string& metric, const std::string& runtime,
                  const std::optional<std::string>& policy);

// What the policy remarked in a trace: by text, the larger of its first and last value.
std::map<std::string, double> remarks_in(const trace::recording& what);

// What `heddle sim` counted: a line of JSON a process.
counted counts_from(const std::vector<std::string>& figures);

}  // namespace heddle::cli::paper

// Readers of the figures that runs of the command write.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/paper/outcome.hpp"
#include "trace/recording.hpp"

namespace heddle::cli::paper {

// Returns the median, in seconds where its unit is one of time, of a row in a file that `heddle bench --json` or
// `heddle demo --json` wrote. The row is the first with this runtime and, if given, this policy and metric (empty means
// any). Throws unavailable.
double seconds_in(const std::string& file, const std::string& metric, const std::string& runtime,
                  const std::optional<std::string>& policy);

// Returns the policy's remarks in a trace: for each text, the larger of its first and last value.
std::map<std::string, double> remarks_in(const trace::recording& what);

// Returns the counts of `heddle sim`, which are a line of JSON for each process.
counted counts_from(const std::vector<std::string>& figures);

}  // namespace heddle::cli::paper

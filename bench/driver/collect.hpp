// Turns the output of the processes into rows, each checked against serial's result.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan.hpp"
#include "statistics.hpp"

namespace heddle::bench {

struct collected {
  std::vector<row> rows;           // by metric, in the order they were first seen; then in the order of the jobs
  std::vector<std::string> wrong;  // one line for each result that is not serial's
};

// "spike, guided" is the metric "spike" in one of a runtime's ways: serial has it once.
inline std::string without_way(const std::string& metric) { return metric.substr(0, metric.find(", ")); }

// outputs[i] are the lines of all processes of jobs[i]. A result is right if serial gave the same for the same size. A
// result that serial never gave counts as wrong.
inline collected collect(std::span<const job> jobs, std::span<const std::vector<metric_line>> outputs) {
  std::map<std::pair<std::size_t, std::string>, std::string> expected;
  std::vector<std::string> metrics;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const auto& m : outputs[i]) {
      if (jobs[i].executable->runtime == "serial") expected.try_emplace({jobs[i].n, m.metric}, m.checksum);
      if (std::find(metrics.begin(), metrics.end(), m.metric) == metrics.end()) metrics.push_back(m.metric);
    }
  }
  collected all;
  for (const auto& metric : metrics) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const job& j = jobs[i];
      row r{j.kernel, j.executable->runtime, j.policy, j.workers, j.n, metric, "", {}, true};
      bool given = false;
      for (const auto& m : outputs[i]) {
        if (m.metric != metric) continue;
        given = true;
        r.unit = m.unit;
        r.samples.insert(r.samples.end(), m.samples.begin(), m.samples.end());
        const auto known = expected.find({j.n, without_way(metric)});
        if (known != expected.end() && known->second == m.checksum) continue;
        r.checked = false;
        all.wrong.push_back(j.kernel + " " + metric + " on " + r.runtime + ", " + std::to_string(j.workers) +
                            " workers: result " + m.checksum + ", serial has " +
                            (known == expected.end() ? "none" : known->second));
      }
      if (given && !j.reference && (!r.samples.empty() || !r.checked)) all.rows.push_back(std::move(r));
    }
  }
  return all;
}

}  // namespace heddle::bench

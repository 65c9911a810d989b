#include "cli/paper/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/paper/value.hpp"
#include "trace/summary.hpp"

namespace heddle::cli::paper {

using nlohmann::json;

double seconds_in(const std::string& file, const std::string& metric, const std::string& runtime,
                  const std::optional<std::string>& policy) {
  std::ifstream stream(file);
  const json report = json::parse(stream, nullptr, false);
  if (report.is_discarded()) throw unavailable("the program wrote no figures");
  for (const json& row : report.at("rows")) {
    if (row.at("runtime") != runtime || (policy && row.at("policy") != *policy) ||
        (!metric.empty() && row.at("metric") != metric))
      continue;
    if (!row.at("checked").get<bool>()) throw unavailable("the result is wrong");
    const std::string unit = row.at("unit");
    const double scale = unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : unit == "ns" ? 1e-9 : 1;
    return row.at("median").get<double>() * scale;
  }
  throw unavailable(fmt::format("no figures of {}{}{}", runtime, policy ? " under " + *policy : "",
                                metric.empty() ? "" : " for " + metric));
}

std::map<std::string, double> remarks_in(const trace::recording& what) {
  std::map<std::string, double> all;
  for (const trace::remark& r : trace::summarise(what).remarks)
    all[r.text] = static_cast<double>(std::max(r.first, r.last));
  return all;
}

counted counts_from(const std::vector<std::string>& figures) {
  // Takes the process that worked; other processes of a driver may have made a runtime without using it.
  json best;
  for (const std::string& line : figures) {
    json row = json::parse(line);
    const auto work = [](const json& r) { return r.at("busy").get<double>() * r.at("virtual_seconds").get<double>(); };
    if (best.is_null() || work(row) > work(best)) best = std::move(row);
  }
  counted c;
  c.virtual_seconds = best.at("virtual_seconds");
  c.busy = best.at("busy");
  c.idle = best.at("idle");
  c.overhead = best.at("overhead");
  c.steals = best.at("steals");
  const json& nodes = best.at("nodes");
  if (!nodes.empty()) c.least_local_bytes = nodes.front().at("local_bytes");
  for (const json& node : nodes) {
    c.least_local_bytes = std::min(c.least_local_bytes, node.at("local_bytes").get<double>());
    c.local_bytes += node.at("local_bytes").get<double>();
    c.remote_bytes += node.at("remote_bytes").get<double>();
  }
  for (const json& level : best.at("levels")) c.levels[level.at("level")] = {level.at("accesses"), level.at("misses")};
  return c;
}

}  // namespace heddle::cli::paper

#include "cli/sim/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

namespace heddle::cli {
namespace {

using nlohmann::json;
using runs = std::map<std::uint64_t, double>;  // time of a run, by seed

// Returns the runs in order of appearance. The policy is the requested one, if the row tells it, because a program may
// choose a policy itself.
std::vector<std::pair<std::string, runs>> by_policy(const std::vector<json>& rows) {
  std::vector<std::pair<std::string, runs>> all;
  for (const json& row : rows) {
    const std::string policy = row.value("asked_policy", row.at("policy").get<std::string>());
    auto found = std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.first == policy; });
    if (found == all.end()) found = all.insert(all.end(), {policy, {}});
    found->second[row.at("seed").get<std::uint64_t>()] += row.at("virtual_seconds").get<double>();
  }
  return all;
}

std::string three_digits(double ratio) { return fmt::format("{:.3f}", ratio); }

}  // namespace

std::vector<compared> compare(const std::vector<json>& rows) {
  std::vector<compared> result;
  const auto all = by_policy(rows);
  for (const auto& [policy, times] : all) {
    std::vector<double> own, ratios;
    for (const auto& [seed, time] : times) {
      own.push_back(time);
      const auto base = all.front().second.find(seed);
      if (base != all.front().second.end() && time > 0) ratios.push_back(base->second / time);
    }
    if (ratios.empty()) ratios.push_back(1);
    result.push_back({policy, interval_of(own), interval_of(ratios)});
  }
  return result;
}

const char* decision(const compared& c) {
  return c.faster.above(1) ? "faster" : c.faster.below(1) ? "slower" : "undecided";
}

std::string comparison_table(const std::vector<json>& rows) {
  const std::vector<compared> all = compare(rows);
  if (all.size() < 2) return {};
  std::size_t width = 6;
  for (const compared& c : all) width = std::max(width, c.policy.size());
  const std::string than = "times faster than " + all.front().policy;
  std::string text =
      fmt::format("{:<{}}  {:>12}  {:>{}}  {:>16}\n", "policy", width, "median time", than, than.size(), "interval");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const compared& c = all[i];
    const std::string time = fmt::format("{:.6g} s", c.time.median);
    if (i == 0) {
      text += fmt::format("{:<{}}  {:>12}\n", c.policy, width, time);
      continue;
    }
    const std::string held = c.faster.known()
                                 ? fmt::format("{} to {}", three_digits(c.faster.low), three_digits(c.faster.high))
                                 : std::string("-");
    text += fmt::format("{:<{}}  {:>12}  {:>{}}  {:>16}  {}\n", c.policy, width, time, three_digits(c.faster.median),
                        than.size(), held, decision(c));
  }
  const interval& first = all[1].faster;
  if (first.known()) {
    text += fmt::format(
        "{} pairs of runs, each with its own seed and place of data. Interval of the median of their ratios, by order "
        "statistics: holds it with {:.1f} % or more. Undecided: it holds 1.\n",
        first.figures, 100 * first.coverage);
  } else {
    text += fmt::format("{} pair{} of runs: at least {} tell an interval.\n", first.figures,
                        first.figures == 1 ? "" : "s", least_figures);
  }
  return text;
}

std::vector<json> middle_runs(const std::vector<json>& rows) {
  std::vector<json> result;
  for (const auto& [policy, times] : by_policy(rows)) {
    std::vector<std::pair<double, std::uint64_t>> sorted;
    for (const auto& [seed, time] : times) sorted.emplace_back(time, seed);
    std::sort(sorted.begin(), sorted.end());
    const std::uint64_t middle = sorted[(sorted.size() - 1) / 2].second;
    for (const json& row : rows) {
      if (row.value("asked_policy", row.at("policy").get<std::string>()) == policy && row.at("seed") == middle)
        result.push_back(row);
    }
  }
  return result;
}

}  // namespace heddle::cli

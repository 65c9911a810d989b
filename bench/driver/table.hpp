// The rows of a run as an aligned table and as JSON.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "statistics.hpp"

namespace heddle::bench {

// Four significant digits, no exponent for what a benchmark gives.
inline std::string figure(double value) {
  char text[32];
  const double size = std::fabs(value);
  const int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

// Lines of cells as text, the columns of numbers flush right.
template <class IsNumber>
std::string aligned(const std::vector<std::vector<std::string>>& lines, IsNumber&& is_number) {
  std::vector<std::size_t> widths(lines.front().size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string out;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string pad(widths[i] - line[i].size(), ' ');
      if (i != 0) out += "  ";
      out += is_number(i) ? pad + line[i] : line[i] + pad;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + '\n';
  }
  return text;
}

inline std::string table(std::span<const row> rows) {
  const auto share = [](std::optional<double> ratio) { return ratio ? figure(*ratio) : std::string("-"); };
  std::vector<std::vector<std::string>> lines{{"kernel", "metric", "n", "runtime", "policy", "workers", "median", "min",
                                               "max", "unit", "/ best rival", "/ serial", "result"}};
  for (const row& r : rows) {
    lines.push_back({r.kernel, r.metric, std::to_string(r.n), r.runtime, r.policy.empty() ? "-" : r.policy,
                     std::to_string(r.workers), figure(r.middle()), figure(r.least()), figure(r.greatest()), r.unit,
                     share(ratio_to_best_rival(r, rows)), share(ratio_to_serial(r, rows)), r.checked ? "ok" : "WRONG"});
  }
  return aligned(lines, [](std::size_t column) {
    return column == 2 || (column >= 5 && column <= 8) || column == 10 || column == 11;
  });
}

inline nlohmann::json to_json(const row& r) {
  return {{"kernel", r.kernel}, {"runtime", r.runtime}, {"policy", r.policy},   {"workers", r.workers},
          {"n", r.n},           {"metric", r.metric},   {"unit", r.unit},       {"median", r.middle()},
          {"min", r.least()},   {"max", r.greatest()},  {"samples", r.samples}, {"checked", r.checked}};
}

inline row from_json(const nlohmann::json& j) {
  return {j.at("kernel"), j.at("runtime"), j.at("policy"), j.at("workers"),
          j.at("n"),      j.at("metric"),  j.at("unit"),   j.at("samples").get<std::vector<double>>(),
          j.at("checked")};
}

}  // namespace heddle::bench

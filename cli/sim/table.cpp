#include "cli/sim/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/wrapped.hpp"

namespace heddle::cli {
namespace {

std::string bytes(double n) {
  for (const char* unit : {"B", "KiB", "MiB", "GiB"}) {
    if (n < 10'000) return fmt::format("{:.{}f} {}", n, n < 10 && unit[0] != 'B' ? 1 : 0, unit);
    n /= 1024;
  }
  return fmt::format("{:.0f} TiB", n);
}

std::string count(double n) {
  for (const char* unit : {"", " k", " M"}) {
    if (n < 100'000) return fmt::format("{:.0f}{}", n, unit);
    n /= 1000;
  }
  return fmt::format("{:.0f} G", n);
}

// For programs whose tasks are as small as the scheduler's operations it is far below 1.
std::string speedup(double ratio) { return fmt::format("{:.{}f}", ratio, ratio < 0.1 ? 4 : 2); }

}  // namespace

bool caches_modelled(const nlohmann::json& row) {
  const auto& levels = row.at("levels");
  return row.at("charged") == "annotations" &&
         std::any_of(levels.begin(), levels.end(), [](const auto& l) { return l.at("accesses") != 0; });
}

namespace {

// Says before a table without misses why they are missing.
void tell_what_is_missing(const nlohmann::json& row) {
  if (row.at("charged") == "measured") {
    fmt::print(
        "No caches were modelled: the program was charged the CPU time that it took here, as all are that tell no "
        "costs.\nWho gains by caches, or by where pages lie, does not show: tell accesses (<heddle/cost.hpp>).\n");
  } else {
    fmt::print("No caches were modelled: the program told no access to memory.\n");
  }
}

// Adds the misses of each level, and the bytes from near and far nodes.
void add_memory(std::vector<std::string>& line, const nlohmann::json& r) {
  if (!caches_modelled(r)) {
    line.insert(line.end(), r.at("levels").size() + 2, "-");
    return;
  }
  for (const nlohmann::json& level : r.at("levels")) line.push_back(count(level.at("misses")));
  double local = 0, remote = 0;
  for (const nlohmann::json& node : r.at("nodes")) {
    local += node.at("local_bytes").get<double>();
    remote += node.at("remote_bytes").get<double>();
  }
  line.insert(line.end(), {bytes(local), bytes(remote)});
}

}  // namespace

void print_table(const std::vector<nlohmann::json>& rows) {
  if (rows.empty()) return;
  // If a command has several processes, each may declare something, or nothing.
  const bool memory = std::any_of(rows.begin(), rows.end(), caches_modelled);
  if (!memory) tell_what_is_missing(rows.front());
  std::vector<std::vector<std::string>> cells{
      {"policy", "workers", "virtual", "speed-up", "busy", "idle", "overhead", "steals", "failed", "moved"}};
  if (memory) {
    for (const nlohmann::json& level : rows.front().at("levels"))
      cells[0].push_back(level.at("level").get<std::string>() + " misses");
    cells[0].insert(cells[0].end(), {"local", "remote"});
  }
  cells[0].push_back("real");
  for (const nlohmann::json& r : rows) {
    const auto percent = [&](const char* key) {
      const double share = 100 * r.at(key).get<double>();
      // so that next to nothing is not shown as nothing
      return fmt::format("{:.{}f} %", share, share > 0 && share < 0.05 ? 4 : 1);
    };
    std::vector<std::string> line{r.at("policy"),
                                  std::to_string(r.at("workers").get<unsigned>()),
                                  fmt::format("{:.6g} s", r.at("virtual_seconds").get<double>()),
                                  r.at("speedup").is_null() ? "-" : speedup(r.at("speedup")),
                                  percent("busy"),
                                  percent("idle"),
                                  percent("overhead"),
                                  count(r.at("steals")),
                                  count(r.at("failed_steals")),
                                  count(r.at("migrations"))};
    if (memory) add_memory(line, r);
    line.push_back(fmt::format("{:.2f} s", r.at("real_seconds").get<double>()));
    cells.push_back(std::move(line));
  }
  std::vector<std::size_t> width(cells[0].size(), 0);
  for (const auto& line : cells) {
    for (std::size_t i = 0; i < std::min(line.size(), width.size()); ++i) width[i] = std::max(width[i], line[i].size());
  }
  // Prints as many columns at a time as a terminal shows, with the policy first in each part.
  for (std::size_t begin = 1, end; begin < width.size(); begin = end) {
    std::size_t used = width[0];
    for (end = begin; end < width.size() && (end == begin || used + 2 + width[end] <= base::terminal_columns); ++end)
      used += 2 + width[end];
    if (begin != 1) fmt::print("\n");
    for (const auto& line : cells) {
      std::string text = fmt::format("{:<{}}", line[0], width[0]);
      for (std::size_t i = begin; i < std::min(line.size(), end); ++i)
        text += fmt::format("  {:>{}}", line[i], width[i]);
      fmt::print("{}\n", text);
    }
  }
}

}  // namespace heddle::cli

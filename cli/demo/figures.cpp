#include "cli/demo/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/replace_file.hpp"
#include "cli/here.hpp"
#include "cli/median.hpp"

namespace heddle::cli::demo {
namespace {

#if defined(__clang__)
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "gcc " __VERSION__;
#endif

}  // namespace

void write_json(const request& given, const std::vector<contender>& all, const std::vector<nested_contender>& nested,
                const trained_on& about) {
  nlohmann::json rows = nlohmann::json::array();
  for (const contender& one : all) {
    for (const auto& [metric, samples] : {std::pair{"train", &one.seconds}, std::pair{"build", &one.build_seconds}}) {
      rows.push_back({{"kernel", "decision_tree"},
                      {"runtime", one.name},
                      {"policy", one.policy},
                      {"workers", one.workers},
                      {"n", about.rows},
                      {"metric", metric},
                      {"unit", "s"},
                      {"median", median(*samples)},
                      {"min", *std::min_element(samples->begin(), samples->end())},
                      {"max", *std::max_element(samples->begin(), samples->end())},
                      {"samples", *samples},
                      {"checked", one.same_tree},
                      {"accuracy", one.accuracy}});
    }
  }
  for (const nested_contender& one : nested) {
    for (const auto& [metric, samples] :
         {std::pair{"solvers", &one.milliseconds}, std::pair{"solvers_open", &one.open}}) {
      if (samples->empty()) continue;
      rows.push_back({{"kernel", "nested"},
                      {"runtime", one.runtime},
                      {"workers", all.back().workers},
                      {"metric", metric},
                      {"unit", "ms"},
                      {"median", median(*samples)},
                      {"min", *std::min_element(samples->begin(), samples->end())},
                      {"max", *std::max_element(samples->begin(), samples->end())},
                      {"samples", *samples}});
    }
  }
  const nlohmann::json whole{{"machine", processor_name()}, {"compiler", compiler}, {"date", now_as(moment)},
                             {"features", about.features},  {"depth", about.depth}, {"nodes", about.nodes},
                             {"majority", about.majority},  {"rows", rows}};
  base::replace_file(given.json, whole.dump(2) + "\n");
}

void print_table(const std::vector<contender>& all, const trained_on& about) {
  fmt::print("{} training rows of {} features; tree of depth {}, {} nodes; the more frequent class alone: {:.1f} %\n\n",
             about.rows, about.features, about.depth, about.nodes, 100 * about.majority);
  fmt::print("{:<9} {:>7} {:>12} {:>19} {:>9} {:>9}  {}\n", "runtime", "workers", "median time", "fastest - slowest",
             "speed-up", "accuracy", "same tree");
  const double serial = median(all.front().seconds);
  for (const contender& one : all) {
    const double time = median(one.seconds);
    const auto [least, most] = std::minmax_element(one.seconds.begin(), one.seconds.end());
    fmt::print("{:<9} {:>7} {:>9.1f} ms {:>19} {:>8.2f}x {:>7.1f} %  {}\n", one.name, one.workers, 1e3 * time,
               fmt::format("{:.1f} - {:.1f} ms", 1e3 * *least, 1e3 * *most), serial / time, 100 * one.accuracy,
               one.same_tree ? "yes" : "NO");
  }
}

void print_verdict(const std::vector<contender>& all) {
  const contender& heddle = all.back();
  const contender* best = nullptr;
  for (const contender& one : all) {
    if (&one != &heddle && one.name != "serial" && (best == nullptr || median(one.seconds) < median(best->seconds)))
      best = &one;
  }
  const double own = median(heddle.seconds);
  fmt::print("\nheddle takes {:.2f} of the serial time", own / median(all.front().seconds));
  if (best != nullptr)
    fmt::print(" and {:.2f} of the time of the fastest rival, {}", own / median(best->seconds), best->name);
  fmt::print(".\n");
}

}  // namespace heddle::cli::demo

#include "cli/bench/preempt.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "base/options.hpp"
#include "bench/driver/programs.hpp"
#include "bench/driver/table.hpp"
#include "process/beside.hpp"
#include "worker/preemption/ticks.hpp"

namespace heddle::cli {

namespace {

constexpr std::chrono::seconds preempt_limit(3600);

// Returns "NAME=TEXT: expected ..." without the name, which is not the option's.
std::string after_name(const std::string& text) {
  const auto colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

std::string complaint(const char* key, const std::string& text) {
  base::option_values values;
  try {
    base::set_option(values, key, text);
    return "";
  } catch (const std::invalid_argument& e) {
    return after_name(e.what());
  }
}

std::string program_path() {
  if (const auto path = process::find_program(bench::program_folders(), "heddle-preempt")) return *path;
  throw std::runtime_error("no program heddle-preempt found; build it with: cmake --build BUILD --target heddle_bench");
}

std::string text_of(const nlohmann::json& value) {
  if (value.is_string()) return value;
  if (value.is_number_float()) return bench::figure(value);
  return value.dump();
}

}  // namespace

const std::vector<std::string>& preempt_kernels() {
  static const std::vector<std::string> names{"preempt-cost", "preempt-overhead", "preempt-timers",
                                              "barrier",      "packing",          "insitu"};
  return names;
}

std::vector<std::string> take_preempt_kernels(std::vector<std::string>& names) {
  const auto& known = preempt_kernels();
  const auto is_ours = [&](const std::string& n) { return std::find(known.begin(), known.end(), n) != known.end(); };
  std::vector<std::string> taken;
  std::copy_if(names.begin(), names.end(), std::back_inserter(taken), is_ours);
  std::erase_if(names, is_ours);
  return taken;
}

std::string check_preempt_interval(const std::string& text) { return complaint("preempt_interval", text); }
std::string check_preempt_timer(const std::string& text) {
  try {
    worker::tick_plan_from(text, 1'000'000);
    return "";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

nlohmann::json run_preempt_kernel(const std::string& name, const preempt_request& asked) {
  std::vector<std::string> arguments{name.starts_with("preempt-") ? name.substr(8) : name, "--workers",
                                     std::to_string(asked.workers), "--json", "-"};
  if (!asked.interval.empty()) {
    base::option_values values;
    base::set_option(values, "preempt_interval", asked.interval);
    arguments.insert(arguments.end(), {"--interval-us", std::to_string(values.preempt_interval / 1000)});
  }
  if (!asked.timer.empty()) arguments.insert(arguments.end(), {"--timer", asked.timer});
  if (asked.repeats != 0) arguments.insert(arguments.end(), {"--repeats", std::to_string(asked.repeats)});
  const process::ended done = bench::run_program(program_path(), arguments, preempt_limit);
  if (done.late) throw std::runtime_error(name + ": killed after " + std::to_string(preempt_limit.count()) + " s");
  if (done.status != 0) throw std::runtime_error(name + ": exit status " + std::to_string(done.status));
  try {
    nlohmann::json measured = nlohmann::json::parse(done.output);
    if (!measured.at("rows").is_array()) throw std::runtime_error(name + ": rows are missing");
    return measured;
  } catch (const nlohmann::json::exception& e) {
    throw std::runtime_error(name + ": unreadable output: " + e.what());
  }
}

// Makes a column for each name that any row has, in the order in which they come; "way" is first.
std::string preempt_table(const std::string& name, const nlohmann::json& measured) {
  std::vector<std::string> columns;
  std::vector<bool> number;
  const auto column = [&](const std::string& key, const nlohmann::json& value) {
    if (std::find(columns.begin(), columns.end(), key) != columns.end()) return;
    const bool first = key == "way";
    columns.insert(first ? columns.begin() : columns.end(), key);
    number.insert(first ? number.begin() : number.end(), value.is_number());
  };
  for (const auto& row : measured.at("rows")) {
    for (const auto& [key, value] : row.items()) column(key, value);
  }
  std::string text = name + "\n";
  if (columns.empty()) return text;
  std::vector<std::vector<std::string>> lines{columns};
  for (const auto& row : measured.at("rows")) {
    auto& line = lines.emplace_back();
    for (const std::string& key : columns) line.push_back(row.contains(key) ? text_of(row.at(key)) : "-");
  }
  return text + bench::aligned(lines, [&](std::size_t i) { return number[i]; });
}

}  // namespace heddle::cli

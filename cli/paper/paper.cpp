// heddle paper: repeats the experiments of papers, on a model of their machine and here, and compares.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/replace_file.hpp"
#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/paper/about.hpp"
#include "cli/paper/rows.hpp"

namespace heddle::cli {
namespace {

struct arguments {
  std::string action;
  std::vector<std::string> names;
  std::string scale{"quick"};
  std::string json;
  std::string output;
  bool real{false};
  bool no_sim{false};
  unsigned real_workers{0};
  unsigned seeds{paper::work_order().seeds};
  unsigned jobs{paper::work_order().jobs};
  std::string only;
  std::string into;
};

int list() {
  for (const paper::paper& p : paper::papers()) {
    fmt::print("{}: {}\n", p.name, p.title);
    for (const paper::experiment& e : p.experiments()) {
      std::string policies;
      for (const std::string& name : paper::policies_of(e)) policies += " " + name;
      fmt::print("  {:<14} {}: {}\n  {:<14} {}, {} workers;{}\n", e.id, e.figure, e.title, "", e.machine, e.workers,
                 policies);
    }
  }
  return 0;
}

// Returns the experiments for ids, names of papers, or "all".
std::vector<paper::experiment> chosen(const std::vector<std::string>& names) {
  if (names.empty()) throw usage_error("ID is missing: `heddle paper list` shows them; all runs all");
  const std::vector<paper::experiment> all = paper::experiments();
  std::vector<std::string> valid{"all"};
  for (const paper::paper& p : paper::papers()) valid.push_back(p.name);
  const std::size_t groups = valid.size();
  for (const paper::experiment& e : all) valid.push_back(e.id);
  for (const std::string& name : names) {
    if (std::find(valid.begin(), valid.end(), name) == valid.end()) throw usage_error::unknown("ID", name, valid);
  }
  const auto wanted = [&](const paper::experiment& e) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const bool group = std::find(valid.begin() + 1, valid.begin() + static_cast<std::ptrdiff_t>(groups), name) !=
                         valid.begin() + static_cast<std::ptrdiff_t>(groups);
      return name == "all" || name == e.id || (group && e.id.starts_with(name + "-"));
    });
  };
  std::vector<paper::experiment> result;
  std::copy_if(all.begin(), all.end(), std::back_inserter(result), wanted);
  return result;
}

// Keeps only the measures of that name.
void keep_only(std::vector<paper::experiment>& from, const std::string& name) {
  std::vector<std::string> valid;
  for (paper::experiment& e : from) {
    for (const paper::measure& m : e.measures) valid.push_back(m.name);
    std::erase_if(e.measures, [&](const paper::measure& m) { return m.name != name; });
  }
  std::erase_if(from, [](const paper::experiment& e) { return e.measures.empty(); });
  if (from.empty()) throw usage_error::unknown("--only", name, valid);
}

std::string in_folder(const std::string& folder, const std::string& file) {
  return (std::filesystem::path(folder) / file).string();
}

constexpr paper::scale scales[] = {paper::scale::quick, paper::scale::medium, paper::scale::full};

paper::scale scale_of(const std::string& name) {
  return *std::find_if(std::begin(scales), std::end(scales), [&](paper::scale s) { return name == paper::name(s); });
}

int run(const arguments& given) {
  std::vector<paper::experiment> wanted = chosen(given.names);
  if (!given.only.empty()) keep_only(wanted, given.only);
  if (given.no_sim && !given.real) throw usage_error("--no-sim leaves nothing to do: add --real");
  const unsigned here =
      given.real_workers != 0 ? given.real_workers : std::max(1u, std::thread::hardware_concurrency());
  if (!given.into.empty()) std::filesystem::create_directories(given.into);
  paper::laboratory laboratory({.size = scale_of(given.scale),
                                .simulates = !given.no_sim,
                                .real_workers = given.real ? here : 0,
                                .seeds = given.seeds,
                                .jobs = given.jobs,
                                .notes = given.into.empty() ? "" : in_folder(given.into, "runs.jsonl")});
  std::vector<nlohmann::json> rows;
  laboratory.run(wanted, [&](const paper::experiment& e) {
    const std::vector<nlohmann::json> some = paper::rows_of(e, laboratory);
    fmt::print("{}{}", rows.empty() ? "" : "\n", paper::table_of(some));
    std::fflush(stdout);
    rows.insert(rows.end(), some.begin(), some.end());
    // They are written after each experiment, because the whole takes long.
    if (!given.json.empty()) paper::write_rows(given.json, rows);
    if (!given.into.empty()) paper::write_rows(in_folder(given.into, e.id + ".json"), some);
  });
  const bool any = std::any_of(rows.begin(), rows.end(), [](const nlohmann::json& r) {
    return !r.at("simulated").is_null() || !r.at("measured").is_null();
  });
  return any ? 0 : 1;
}

std::vector<nlohmann::json> rows_in(const std::vector<std::string>& files) {
  if (files.empty()) throw usage_error("FILE is missing: rows that `heddle paper run --json` wrote");
  std::vector<nlohmann::json> rows;
  for (const std::string& file : files) {
    const std::vector<nlohmann::json> some = paper::read_rows(file);
    rows.insert(rows.end(), some.begin(), some.end());
  }
  return rows;
}

int judge(const arguments& given) {
  const std::vector<nlohmann::json> rows = paper::judged_anew(rows_in(given.names));
  fmt::print("{}", paper::table_of(rows));
  if (!given.json.empty()) paper::write_rows(given.json, rows);
  if (given.into.empty()) return 0;
  std::filesystem::create_directories(given.into);
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last =
        std::find_if(first, rows.end(), [&](const nlohmann::json& r) { return r["id"] != (*first)["id"]; });
    paper::write_rows(in_folder(given.into, first->at("id").get<std::string>() + ".json"), {first, last});
    first = last;
  }
  return 0;
}

int report(const arguments& given) {
  const std::vector<nlohmann::json> rows = rows_in(given.names);
  const std::string page = paper::page_of(rows);
  if (given.output.empty()) {
    fmt::print("{}", page);
    return 0;
  }
  base::replace_file(given.output, page);
  return 0;
}

int act(const arguments& given) {
  if (given.action == "list") {
    if (!given.names.empty())
      throw usage_error(fmt::format("argument '{}' is one too many: list takes none", given.names[0]));
    return list();
  }
  if (given.action == "run") return run(given);
  if (given.action == "judge") return judge(given);
  if (given.action == "report") return report(given);
  const std::vector<std::string> valid{"list", "run", "judge", "report"};
  if (given.action.empty()) throw usage_error("ACTION is missing: list, run, judge or report");
  throw usage_error::unknown("ACTION", given.action, valid);
}

std::function<int()> add_paper(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  app.add_option("ACTION", given->action,
                 "list: the experiments; run ID...: some of them, a paper, or all; judge FILE...: rows that run --json "
                 "wrote, merged, the last ones winning, with the verdicts of today's table; "
                 "report FILE...: their page");
  app.add_option("ID", given->names, "Experiments, or files");
  app.add_option("--scale", given->scale,
                 "quick: sizes that take seconds; medium: between the two; full: the paper's where an hour suffices")
      ->capture_default_str()
      ->check(CLI::IsMember({"quick", "medium", "full"}));
  app.add_flag("--real", given->real, "Measure on this machine, too");
  app.add_flag("--no-sim", given->no_sim, "Simulate nothing; with --real: measure here alone");
  app.add_option("--real-workers", given->real_workers, "Workers there; default: one a processor")
      ->check(integer(1, most_workers));
  app.add_option("--seeds", given->seeds, "Pairs of simulated runs, each with its seed and its place of data")
      ->capture_default_str()
      ->check(integer(1, 1000));
  app.add_option("--jobs", given->jobs, "Simulated runs at once, of any experiments; the figures are the same")
      ->capture_default_str()
      ->check(integer(1, 256));
  app.add_option("--only", given->only, "Of run: the measure of this name alone");
  app.add_option(
      "--into", given->into,
      "Folder for a file of rows a figure, and for what was run already: a run that was ended goes on there");
  app.add_option("--json", given->json, "File for the rows")->check(output_file());
  app.add_option("--output", given->output, "File for the page; default: standard output")->check(output_file());
  app.footer(
      "Examples: heddle paper run adws-4.18; heddle paper run all --real --json rows.json; heddle paper report "
      "rows.json --output reproduction.md");
  return [given] { return act(*given); };
}

const registration paper_entry{command{"paper", paper::about, add_paper}};

}  // namespace
}  // namespace heddle::cli

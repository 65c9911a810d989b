// heddle sim: a program on a modelled machine, in virtual time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/replace_file.hpp"
#include "bench/driver/plan.hpp"
#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/interval.hpp"
#include "cli/progress.hpp"
#include "cli/sim/comparison.hpp"
#include "cli/sim/process.hpp"
#include "cli/sim/sensitivity.hpp"
#include "cli/sim/table.hpp"
#include "machine/model.hpp"
#include "policy/registry.hpp"

namespace heddle::cli {
namespace {

using nlohmann::json;

struct arguments {
  sim_setting setting{.machine = "this", .policy = {}, .charge = "auto", .trace = {}};
  std::vector<std::string> words;
  std::vector<std::string> compare;
  std::string json_file;
  // 0 means as many as tell an interval if policies are compared, and otherwise one.
  unsigned seeds{0};
  bool no_serial{false};
  bool sensitivity{false};
  std::uint64_t explore{0};
  std::optional<std::uint64_t> explore_seed;
  unsigned limit{60};
};

void check_policy(const std::string& text) {
  try {
    (void)policy::make(text);
  } catch (const std::invalid_argument& e) {
    throw usage_error(e.what());
  }
}

// Turns out.heddle into out-adws.heddle, if there are several policies.
std::string trace_name(const std::string& file, const std::string& policy) {
  if (file.empty() || policy.empty()) return file;
  const std::filesystem::path path(file);
  std::string name = policy;
  std::replace_if(name.begin(), name.end(), [](char c) { return c == ':' || c == '=' || c == ',' || c == '/'; }, '-');
  return (path.parent_path() / (path.stem().string() + "-" + name + path.extension().string())).string();
}

// Returns a row for each process. A process that made a runtime and gave it nothing to do, beside others, is not a run.
std::vector<json> parsed(const sim_outcome& outcome) {
  std::vector<json> rows;
  for (const std::string& line : outcome.figures) rows.push_back(json::parse(line));
  const auto idle = [](const json& r) { return r.at("busy") == 0.0; };
  if (!std::all_of(rows.begin(), rows.end(), idle)) std::erase_if(rows, idle);
  return rows;
}

[[noreturn]] void refuse_unsimulated(const std::string& program) {
  throw std::runtime_error(
      fmt::format("{} ran, but left no figures of a simulated heddle runtime. Is it linked with the shared "
                  "libheddle.so (not libheddle.a), and does it use heddle? `readelf -d {}` shows what it is linked "
                  "with. A program that ends by _exit leaves none, either",
                  program, program));
}

// Returns how a run ended that the simulator ended, or that failed by itself.
std::string end_of(const sim_outcome& outcome) {
  return fmt::format("ended with status {}{}", outcome.status,
                     outcome.failed.empty() ? "" : " (" + outcome.failed + ")");
}

int run_explored(const arguments& given) {
  const std::uint64_t first = given.explore_seed.value_or(1);
  const std::uint64_t last = given.explore_seed ? first : given.explore;
  progress bar("explore", static_cast<std::size_t>(last - first + 1));
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    sim_setting s = given.setting;
    s.explore = true;
    s.explore_seed = seed;
    const sim_outcome outcome =
        simulate(given.words, s, given.explore_seed ? shown::all : shown::captured, given.limit);
    bar.advance();
    if (outcome.status == 0 && !outcome.late) {
      if (outcome.figures.empty() && seed == first) refuse_unsimulated(given.words.front());
      continue;
    }
    bar.clear();
    std::fputs(outcome.errors.c_str(), stderr);
    const std::string how = outcome.late ? fmt::format("was not over after {} s", given.limit) : end_of(outcome);
    fmt::print("schedule {} {}; `heddle sim --explore-seed {} ...` repeats it\n", seed, how, seed);
    return 1;
  }
  bar.clear();
  fmt::print("{} schedules, none failed\n", last - first + 1);
  return 0;
}

// Programs that declare costs pay for nothing else. A program that declares some costs and computes much more gets a
// time that means nothing.
void warn_of_untold(const std::vector<json>& rows) {
  double told = 0, all = 0, untold = 0;
  for (const json& r : rows) {
    if (r.at("charged") != "annotations") continue;
    told += r.at("program_seconds").get<double>();
    all += r.at("program_cpu_seconds").get<double>();
    untold += r.at("untold_cpu_seconds").get<double>();
  }
  // in seconds; the modelled machine may be slower or faster than this one, but not by this factor
  constexpr double least = 0.05, far_more = 20;
  const bool silent = untold > least && untold > told;
  if (!silent && !(all > least && all > far_more * told)) return;
  fmt::print(stderr,
             "heddle sim: warning: the program told costs of {:.3g} s, and computed for {:.3g} s of CPU time here, "
             "{:.3g} s of it between two operations of the "
             "scheduler without telling any. Code that tells nothing is free once a program includes "
             "<heddle/cost.hpp>: tell its costs, or --charge measured\n",
             told, all, untold);
}

// Runs serially for the figures of the serial program: one worker, the order of the serial program, a scheduler that
// costs nothing.
std::vector<json> run_serially(const arguments& given) {
  sim_setting s = given.setting;
  s.policy = "serial";
  s.workers = 1;
  s.free_scheduler = true;
  s.trace.clear();
  const sim_outcome outcome = simulate(given.words, s, shown::errors);
  if (outcome.status != 0)
    throw std::runtime_error(fmt::format("the serial run {}; --no-serial leaves it out", end_of(outcome)));
  return parsed(outcome);
}

// Returns the time of the first policy divided by that of the second.
double ratio_of_times(const arguments& given, const std::vector<std::string>& policies, const std::string& machine) {
  double times[2]{};
  for (std::size_t i = 0; i < 2; ++i) {
    sim_setting s = given.setting;
    s.machine = machine;
    s.policy = policies[i];
    s.trace.clear();
    const sim_outcome outcome = simulate(given.words, s, shown::errors);
    if (outcome.status != 0) throw std::runtime_error(fmt::format("on {} the program {}", machine, end_of(outcome)));
    if (outcome.figures.empty()) refuse_unsimulated(given.words.front());
    for (const json& row : parsed(outcome)) times[i] += row.at("virtual_seconds").get<double>();
  }
  return times[0] / times[1];
}

// Makes one run under one policy, the n-th with that policy, and returns its rows. Only the output of the first runs is
// shown.
std::vector<json> run_once(const arguments& given, const std::string& policy, unsigned n, bool compared, int& status) {
  sim_setting s = repetition(given.setting, n);
  s.policy = policy;
  s.trace = n != 0 ? "" : compared ? trace_name(given.setting.trace, policy) : given.setting.trace;
  const sim_outcome outcome = simulate(given.words, s, n == 0 ? shown::all : shown::captured);
  if (outcome.status != 0) {
    std::fputs(outcome.errors.c_str(), stderr);
    fmt::print(stderr, "heddle sim: the program {}{}\n", end_of(outcome),
               n == 0 ? std::string() : fmt::format(" with --seed {}", s.seed));
    status = 1;
  }
  if (outcome.figures.empty() && outcome.status == 0) refuse_unsimulated(given.words.front());
  std::vector<json> rows = parsed(outcome);
  for (json& row : rows) {
    row["seed"] = s.seed;
    row["padding"] = s.padding;
    row["caches_modelled"] = caches_modelled(row);
    if (compared) row["asked_policy"] = policy;
    row["serial_virtual_seconds"] = nullptr;
    row["speedup"] = nullptr;
  }
  return rows;
}

int run(arguments given) {
  if (given.words.empty()) throw usage_error("no program: `heddle sim [OPTIONS] -- PROGRAM [ARGUMENTS]`");
  try {
    const machine::model m = machine::model::from_name(given.setting.machine);
    // The program is told the number, too. So code that decides by this machine's processors, as `heddle bench` does,
    // decides by the model's.
    const auto units = static_cast<unsigned>(m.tree.units().size());
    if (given.setting.workers > units) {
      throw usage_error(fmt::format("--workers {}: machine {} has {} processing units", given.setting.workers,
                                    given.setting.machine, units));
    }
    if (given.setting.workers == 0) given.setting.workers = units;
  } catch (const std::invalid_argument& e) {
    throw usage_error(std::string("--machine: ") + e.what());
  }
  std::vector<std::string> policies = bench::rejoined_policies(given.compare);
  if (!given.compare.empty() &&
      (policies.empty() || std::any_of(policies.begin(), policies.end(), [](const auto& p) { return p.empty(); })))
    throw usage_error("--compare: a policy's name is empty");
  if (policies.empty()) policies.push_back(given.setting.policy);
  for (const std::string& p : policies) {
    if (!p.empty()) check_policy(p);
  }
  if (given.explore != 0 || given.explore_seed) return run_explored(given);
  if (given.sensitivity) {
    if (policies.size() != 2) throw usage_error("--sensitivity needs two policies: --compare P,Q");
    print_sensitivity(given.setting.machine, fmt::format("time of {} over {}", policies[0], policies[1]),
                      [&](const std::string& machine) { return ratio_of_times(given, policies, machine); });
    return 0;
  }

  const unsigned repetitions = given.seeds != 0      ? given.seeds
                               : policies.size() > 1 ? static_cast<unsigned>(least_figures)
                                                     : 1;
  std::vector<json> rows;
  int status = 0;
  std::optional<progress> bar;  // not used for the first runs, so that their output stands alone
  for (unsigned n = 0; n < repetitions && status == 0; ++n) {
    if (n == 1) bar.emplace("heddle sim, other seeds", (repetitions - 1) * policies.size());
    for (const std::string& p : policies) {
      if (bar) bar->advance(0, p);
      for (json& row : run_once(given, p, n, policies.size() > 1, status)) rows.push_back(std::move(row));
      if (bar) bar->advance();
    }
  }
  bar.reset();
  if (!given.no_serial && !rows.empty() && status == 0) {
    const std::vector<json> serial = run_serially(given);
    // Programs of several processes start them in the same order each time.
    for (std::size_t i = 0; i < rows.size() && !serial.empty() && rows.size() % serial.size() == 0; ++i) {
      const json& alone = serial[i % serial.size()];
      const double time = alone.at("virtual_seconds");
      rows[i]["serial_virtual_seconds"] = time;
      // For a program that declared nothing, or next to nothing, the ratio would say nothing.
      constexpr double least = 1e-6;
      if (alone.at("program_seconds").get<double>() >= least)
        rows[i]["speedup"] = time / std::max(rows[i].at("virtual_seconds").get<double>(), 1e-12);
    }
  }
  if (!rows.empty())
    fmt::print("\n{} on {}\n", rows.front().at("program").get<std::string>(),
               rows.front().at("machine").get<std::string>());
  const std::vector<json> middle = middle_runs(rows);
  print_table(middle);
  if (const std::string text = comparison_table(rows); !text.empty()) fmt::print("\n{}", text);
  // Writing a trace is a part of the program's computation, so there is no warning with one.
  if (given.setting.trace.empty()) warn_of_untold(middle);
  if (!given.json_file.empty()) base::replace_file(given.json_file, json(rows).dump(1) + "\n");
  return status;
}

std::function<int()> add_sim(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  app.add_option("PROGRAM", given->words, "What to run, with its arguments, after --");
  app.add_option(
         "--machine", given->setting.machine,
         "Modelled machine: a name of `heddle topo --list`, this, a TOML or lstopo XML file, or synthetic:DESCRIPTION")
      ->capture_default_str();
  app.add_option("--policy", given->setting.policy, "Scheduling policy, where the program does not choose one itself");
  // otherwise the option would swallow the --
  app.add_option("--compare", given->compare, "Several policies, five runs each unless --seeds says otherwise")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--workers", given->setting.workers,
                 "Workers, where the program does not choose; 0: one a processing unit")
      ->capture_default_str()
      ->check(integer(0, most_workers));
  app.add_option("--seed", given->setting.seed, "Seed of random choices")
      ->capture_default_str()
      ->check(integer(0, most_seed));
  app.add_option(
         "--seeds", given->seeds,
         "Runs a policy, from --seed on, each with its data elsewhere in pages; default: 5 with --compare, else 1")
      ->check(integer(1, 10'000));
  app.add_flag("--fast", given->setting.fast, "Only costs: programs leave out the arithmetic that they have told");
  app.add_option("--cycles", given->setting.cycles_factor,
                 "A cycle that the program tells is so many of the machine's: fits what was told for another processor")
      ->capture_default_str()
      ->check(number(1e-3, 1e3));
  app.add_option(
         "--charge", given->setting.charge,
         "What code costs: annotations, measured (its CPU time here), or auto: annotations if the program has any")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "annotations", "measured"}));
  app.add_flag("--no-serial", given->no_serial, "No serial run, and so no speed-up");
  app.add_flag("--sensitivity", given->sensitivity,
               "With --compare P,Q: how the ratio of their times moves with each assumed figure of the machine");
  app.add_option("--json", given->json_file, "File for the rows of the table")->check(output_file());
  app.add_option("--trace", given->setting.trace, "File for a trace in virtual time, NAME.heddle or NAME.json")
      ->check(output_file({".heddle", ".json"}));
  app.add_option("--stall-limit", given->setting.stall_limit,
                 "Seconds of CPU time without a scheduling point after which a run ends, with its stacks; 0: never")
      ->capture_default_str()
      ->check(integer(0, 1'000'000));
  app.add_option("--explore", given->explore,
                 "Run so many schedules that differ at scheduling points, and report the first that fails")
      ->check(integer(1, 1'000'000'000));
  app.add_option("--explore-seed", given->explore_seed, "Repeat one schedule of --explore")
      ->check(integer(0, most_seed));
  app.add_option("--explore-limit", given->limit, "Seconds of real time after which a schedule counts as failed")
      ->capture_default_str()
      ->check(integer(1, 1'000'000));
  return [given] { return run(*given); };
}

const registration sim_entry{command{"sim", "run a program on a modelled machine, in virtual time", add_sim}};

}  // namespace
}  // namespace heddle::cli

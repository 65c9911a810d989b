// heddle group: tasks that share data together on cores that share a cache, found offline (Yoo et al. 2013).
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/replace_file.hpp"
#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/group/partition.hpp"
#include "cli/group/recursive.hpp"
#include "cli/scratch.hpp"
#include "cli/sim/process.hpp"
#include "machine/limits.hpp"
#include "machine/model.hpp"
#include "machine/plan.hpp"
#include "policy/grouped/grouping.hpp"

namespace heddle::cli {
namespace {

using policy::grouping;
using policy::sharing_profile;

struct group_arguments {
  std::vector<std::string> words;
  std::string profile;
  std::string save_profile;
  std::string output;
  std::string machine{"this"};
  unsigned workers = 0;  // 0 means one for each unit
};

// Returns the tree of the workers that a runtime on that machine would have.
machine::topology placed_workers(const machine::model& model, unsigned workers) {
  base::option_values options;
  if (workers != 0) base::set_option(options, "workers", std::to_string(workers), "--workers");
  const machine::limits allowed = model.tree.is_this_machine() ? machine::read_limits() : machine::limits{};
  return model.tree.for_workers(machine::plan(model.tree, allowed, options).units);
}

// Records what each task of the program touches, from a simulated execution by one worker.
sharing_profile record(const group_arguments& given) {
  const scratch_folder folder("heddle-group");
  const std::string file =
      given.save_profile.empty() ? folder.file("profile.txt") : std::filesystem::absolute(given.save_profile).string();
  if (file.find(',') != std::string::npos)
    throw usage_error(fmt::format("--save-profile: '{}': no comma can be in the name", file));
  std::filesystem::remove(file);
  sim_setting s{.machine = given.machine, .policy = "grouped:profile=" + file, .charge = "annotations", .trace = {}};
  s.workers = 1;
  s.fast = true;
  s.free_scheduler = true;
  const sim_outcome outcome = simulate(given.words, s, shown::errors);
  if (outcome.status != 0)
    throw std::runtime_error(fmt::format("{} ended with status {}", given.words.front(), outcome.status));
  if (!std::filesystem::exists(file)) {
    throw std::runtime_error(fmt::format(
        "{} was not recorded: it started no runtime of heddle, or asked for a policy of its own", given.words.front()));
  }
  try {
    return sharing_profile::read(file);
  } catch (const std::invalid_argument&) {
    throw usage_error(fmt::format(
        "{} told no accesses of children of a group: it needs task groups, and annotations (<heddle/cost.hpp>: "
        "heddle::cost::read, write, rows); or write a profile of your own (docs/guide/grouping.md)",
        given.words.front()));
  }
}

void print(const grouping& made, std::size_t number, const sharing_graph& tasks, const machine::view& machine) {
  const grouping::site& site = made.sites[number];
  std::size_t groups = 0;
  for (const auto& of_worker : site.workers) groups += of_worker.size();
  fmt::print("site {}: {} tasks in {} groups; the most a worker has, of the mean: {:.2f}\n", number, site.tasks, groups,
             imbalance_of(site, tasks));
  fmt::print("{:>8} {:>8} {:>20} {:>20}\n", "level", "parts", "shared lines within", "in blocks by number");
  for (const group_quality& q : quality_of(site, tasks, machine))
    fmt::print("{:>8} {:>8} {:>18.1f} % {:>18.1f} %\n", q.level, q.groups, 100 * q.within, 100 * q.within_dealt);
}

int run(const group_arguments& given) {
  if (given.words.empty() == given.profile.empty()) {
    throw usage_error(given.words.empty() ? "nothing to group: `heddle group [OPTIONS] -- PROGRAM [ARGUMENTS]`, or "
                                            "--profile FILE"
                                          : "--profile and a program: give one of them");
  }
  if (given.output.empty() && given.save_profile.empty())
    throw usage_error("no output: --output FILE for the grouping, or --save-profile FILE for the profile alone");
  if (!given.profile.empty() && !given.save_profile.empty())
    throw usage_error("--save-profile: with --profile there is one already");
  const machine::model model = [&] {
    try {
      return machine::model::from_name(given.machine);
    } catch (const std::invalid_argument& e) {
      throw usage_error(std::string("--machine: ") + e.what());
    }
  }();
  sharing_profile profile;
  try {
    profile = given.profile.empty() ? record(given) : sharing_profile::read(given.profile);
  } catch (const std::invalid_argument& e) {
    throw usage_error(std::string("--profile: ") + e.what());
  }
  if (given.output.empty()) return 0;

  const machine::topology placed = placed_workers(model, given.workers);
  const machine::view view = placed.view();
  grouping made{model.name, policy::tree_text(view), view.workers(), {}};
  for (std::size_t i = 0; i < profile.sites.size(); ++i) {
    const sharing_graph tasks(profile.sites[i]);
    made.sites.push_back(group_tasks(tasks, view, profile.line_bytes));
    print(made, i, tasks, view);
  }
  base::replace_file(given.output, made.text());
  fmt::print("run it with HEDDLE_POLICY=grouped:file={} and {} workers\n", given.output, made.workers);
  return 0;
}

std::function<int()> add_group(CLI::App& app) {
  auto given = std::make_shared<group_arguments>();
  app.add_option("PROGRAM", given->words,
                 "A program that tells its accesses (<heddle/cost.hpp>), with its arguments, after --: one worker of "
                 "it is simulated, and what each child of a group touches is recorded");
  app.add_option("--profile", given->profile,
                 "Instead: what a run with HEDDLE_POLICY=grouped:profile=FILE or --save-profile has recorded, or what "
                 "you have written: the bytes that each task touches");
  app.add_option("--save-profile", given->save_profile, "Write what was recorded")->check(output_file());
  app.add_option("-o,--output", given->output, "The grouping, for HEDDLE_POLICY=grouped:file=FILE")
      ->check(output_file());
  app.add_option("--machine", given->machine,
                 "For which machine: a name of `heddle topo --list`, this, a TOML or lstopo XML file, or "
                 "synthetic:DESCRIPTION")
      ->capture_default_str();
  app.add_option("--workers", given->workers, "Workers of the run; default: one a processing unit")
      ->check(integer(1, most_workers));
  app.footer(std::string("Example: heddle group --machine opteron-8380-4x4 -o cells.txt -- ./app. ") +
             (has_metis() ? "Parts are made by METIS." : "This command was built without METIS and makes no groups."));
  return [given] { return run(*given); };
}

const registration group_entry{
    command{"group", "group tasks by the data they share, for HEDDLE_POLICY=grouped", add_group}};

}  // namespace
}  // namespace heddle::cli

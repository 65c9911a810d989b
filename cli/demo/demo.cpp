// heddle demo: trains a decision tree on heddle and on other runtimes, on the same rows, and shows how long each took.
//
// Each runtime is a program of its own (bench/decision_tree/), started anew for each round, so that no runtime's idle
// threads disturb the next one. The rows are read or generated once, into memory that the programs inherit as a file.
// A second table shows what parallel loops within a parallel loop take (nested.cpp): there runtimes differ more.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/demo/figures.hpp"
#include "cli/demo/nested.hpp"
#include "cli/demo/trees.hpp"
#include "cli/progress.hpp"
#include "policy/registry.hpp"

namespace heddle::cli::demo {
namespace {

// With fewer rows the tenth that is held out does not tell the accuracy to one per cent, and a training is too short
// for the clock.
constexpr std::uint64_t fewest_rows = 10'000;

int run(const request& given) {
  if (!given.test.empty() && given.data.empty()) throw usage_error("--test needs --data");
  if (!given.policy.empty()) {
    try {
      (void)policy::make(given.policy);
    } catch (const std::invalid_argument& error) {
      throw usage_error(std::string("--policy: ") + error.what());
    }
  }
  std::vector<contender> all;
  std::vector<std::string> skipped;
  for (const std::string& name : chosen_runtimes(given.rivals)) {
    if (const std::optional<std::string> program = find_program("tree", name)) {
      all.push_back({.name = name, .program = *program, .seconds = {}, .build_seconds = {}, .policy = {}, .hash = {}});
    } else if (name == "serial" || name == "heddle") {
      throw std::runtime_error(fmt::format(
          "heddle-tree-{} is neither beside the command nor in ../libexec/heddle: build the target heddle_demo", name));
    } else {
      skipped.push_back(fmt::format("{} (not built: needs {})", name, needs_of(name)));
    }
  }

  const shared_rows rows;
  trained_on about;
  {
    progress bar("demo", 1 + all.size() * given.repeat);
    bar.advance(0, given.data.empty() ? "generating rows" : "reading " + given.data);
    prepare(given, all.back().program, rows);
    bar.advance(1);
    unsigned workers = given.workers;
    for (unsigned round = 0; round < (simulated() ? 1 : given.repeat); ++round) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        // heddle begins: if no number of workers is given, all others get the number that heddle takes. After that each
        // round begins with another runtime, so that none always runs behind the same neighbour.
        contender& one = round == 0 ? all[(all.size() - 1 + i) % all.size()] : all[(round + i) % all.size()];
        bar.advance(0, one.name);
        train(one, given, workers, rows, about);
        if (one.name == "heddle") workers = one.workers;
        bar.advance(1);
      }
    }
  }

  bool agreed = true;
  for (contender& one : all) {
    one.same_tree = one.same_tree && one.hash == all.front().hash;
    agreed = agreed && one.same_tree;
  }
  print_table(all, about);
  if (about.rows < fewest_rows)
    fmt::print("\nwarning: {} training rows are too few: accuracy and times mean little below {}\n", about.rows,
               fewest_rows);
  for (const std::string& one : skipped) fmt::print("skipped: {}\n", one);
  if (all.size() > 1) print_verdict(all);
  std::vector<nested_contender> nested;
  for (const contender& one : all) {
    if (const std::optional<std::string> program = find_program("nested", one.name); program && !simulated())
      nested.push_back({one.name, *program, {}, {}});
  }
  if (nested.size() == all.size() && nested.size() > 1) {
    run_nested(nested, all.back().workers, given.repeat);
    fmt::print("\n{}", nested_table(nested, all.back().workers));
  }
  if (!given.json.empty()) write_json(given, all, nested, about);
  if (!agreed) throw std::runtime_error("not all runtimes made the same tree");
  return 0;
}

std::function<int()> add_demo(CLI::App& app) {
  auto given = std::make_shared<request>();
  app.add_option("--data", given->data,
                 "Tab-separated rows: label 0 or 1, then the features; without it rows are generated");
  app.add_option("--test", given->test, "Held-out rows; without it the last tenth of the rows is held out");
  app.add_option("--rows", given->rows, "Rows to generate")->capture_default_str()->check(integer(10, 2'000'000'000));
  app.add_option("--seed", given->seed, "Seed of the generator")->capture_default_str()->check(integer(0, most_seed));
  app.add_option("--depth", given->depth, "Greatest depth of the tree")->capture_default_str()->check(integer(1, 64));
  app.add_option("--min-leaf", given->min_leaf, "Fewest rows in a leaf")
      ->capture_default_str()
      ->check(integer(1, 1u << 30));
  app.add_option("--workers", given->workers, "Workers of each runtime; 0: what heddle takes on this machine")
      ->capture_default_str()
      ->check(integer(0, most_workers));
  app.add_option("--repeat", given->repeat, "Rounds; each starts every runtime once")
      ->capture_default_str()
      ->check(integer(1, 1000));
  app.add_option("--rivals", given->rivals,
                 "Comma-separated: libgomp, libomp, tbb, or all; serial and heddle always run")
      ->capture_default_str();
  app.add_option("--policy", given->policy, "Scheduling policy of heddle");
  app.add_option("--json", given->json, "Also write the figures there")->check(output_file());
  return [given] { return run(*given); };
}

const registration demo_entry{command{"demo", "train a decision tree on heddle and its rivals, and compare", add_demo}};

}  // namespace
}  // namespace heddle::cli::demo

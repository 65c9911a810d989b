// heddle run: runs an unchanged OpenMP program on heddle.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/options.hpp"
#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/run/openmp.hpp"
#include "cli/run/survey.hpp"
#include "policy/registry.hpp"
#include "process/search.hpp"

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

struct run_arguments {
  std::vector<std::string> words;
  std::string policy, preempt, trace;
  unsigned workers{0};
  bool stats{false};
};

void check(const run_arguments& given) {
  if (given.words.empty()) throw usage_error("no program: `heddle run [OPTIONS] -- PROGRAM [ARGUMENTS]`");
  base::option_values scratch;
  try {
    if (!given.policy.empty()) (void)policy::make(given.policy);
    if (!given.preempt.empty() && given.preempt != "on" && given.preempt != "off" && given.preempt != "auto")
      base::set_option(scratch, "preempt_interval", given.preempt, "--preempt");
  } catch (const std::invalid_argument& e) {
    throw usage_error(e.what());
  }
}

void set_variables(const run_arguments& given) {
  if (!given.policy.empty()) ::setenv("HEDDLE_POLICY", given.policy.c_str(), 1);
  if (given.workers != 0) ::setenv("HEDDLE_WORKERS", std::to_string(given.workers).c_str(), 1);
  if (!given.trace.empty()) ::setenv("HEDDLE_TRACE", fs::absolute(given.trace).c_str(), 1);
  if (!given.preempt.empty()) {
    const bool is_word = given.preempt == "on" || given.preempt == "off" || given.preempt == "auto";
    ::setenv(is_word ? "HEDDLE_OMP_PREEMPT" : "HEDDLE_PREEMPT_INTERVAL", given.preempt.c_str(), 1);
  }
  ::setenv("HEDDLE_OMP_STATS", given.stats ? "all" : "on", 1);
}

int run(const run_arguments& given) {
  check(given);
  const auto program = process::find_in_path(given.words.front());
  if (!program) {
    const bool is_here = ::access(given.words.front().c_str(), F_OK) == 0;
    throw std::runtime_error(fmt::format("program '{0}' is not found in PATH{1}", given.words.front(),
                                         is_here ? "; there is one here: ./" + given.words.front() : ""));
  }
  const openmp_use use = survey(*program);
  const fs::path folder = openmp_folder();
  fmt::print(stderr, "heddle run: {}\n", to_text(use));
  set_variables(given);
  put_first("LD_LIBRARY_PATH", folder.string());
  put_first("LD_PRELOAD", openmp_preload(folder, true));
  std::fflush(nullptr);
  std::vector<char*> argv;
  for (const std::string& word : given.words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  // The program replaces this process, so that signals, the exit status and the terminal are its own. The library
  // prints the line at its end.
  ::execv(program->c_str(), argv.data());
  throw std::system_error(errno, std::generic_category(), program->string());
}

std::function<int()> add_run(CLI::App& app) {
  auto given = std::make_shared<run_arguments>();
  app.add_option("PROGRAM", given->words, "What to run, with its arguments, after --");
  app.add_option("--policy", given->policy, "Scheduling policy");
  app.add_option("--workers", given->workers, "Workers; 0: one a processing unit")
      ->capture_default_str()
      ->check(integer(0, most_workers));
  app.add_option(
      "--preempt", given->preempt,
      "How long a time slice of a preemptive thread lasts (1ms), or when threads are preempted: auto (while there "
      "are more of them than workers), on, off");
  app.add_option("--trace", given->trace, "File for a trace, NAME.heddle or NAME.json")
      ->check(output_file({".heddle", ".json"}));
  app.add_flag("--stats", given->stats, "Say at the end what each thread did, not only the sums");
  return [given] { return run(*given); };
}

const registration run_entry{command{"run", "run an OpenMP program on heddle", add_run}};

}  // namespace
}  // namespace heddle::cli

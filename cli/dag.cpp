// heddle dag: work, span and parallelism of a program, from a trace or from a run that it starts.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/run/openmp.hpp"
#include "cli/scratch.hpp"
#include "process/run.hpp"
#include "process/search.hpp"
#include "tools/trace/dag.hpp"
#include "tools/trace/reading.hpp"

namespace heddle::cli {
namespace {

struct dag_arguments {
  std::vector<std::string> what;
  bool json = false;
  unsigned workers = 1;
  unsigned runs = 1;
  trace::dag_options options;
};

// Runs the program with every fork traced, by default on one worker: the serial execution, whose times no rival for the
// caches disturbs. The program's output goes to stderr, because stdout is ours.
trace::recording run_traced(const dag_arguments& given) {
  const scratch_folder folder("heddle-dag");
  const std::string file = folder.file("run.heddle");
  const auto program = process::find_in_path(given.what[0]);
  const bool openmp = program && uses_openmp(*program);
  const std::filesystem::path library = openmp ? openmp_folder() : std::filesystem::path();
  const auto before = [&] {
    if (openmp) {
      put_first("LD_LIBRARY_PATH", library.string());
      put_first("LD_PRELOAD", openmp_preload(library, true));
    }
    setenv("HEDDLE_TRACE", file.c_str(), 1);
    setenv("HEDDLE_TRACE_FORKS", "on", 1);
    setenv("HEDDLE_WORKERS", std::to_string(given.workers).c_str(), 1);
    setenv("HEDDLE_TRACE_BUFFER", "16M", 0);
    dup2(STDERR_FILENO, STDOUT_FILENO);
  };
  const process::ended run = process::run(given.what, {.searched = true, .before = before});
  if (run.signal != 0) throw std::runtime_error(fmt::format("{} was ended by signal {}", given.what[0], run.signal));
  if (!std::filesystem::exists(file)) {
    const std::string how = run.status == 0 ? ": is it linked with heddle, and does it use it?"
                                            : fmt::format(", and ended with status {}", run.status);
    throw usage_error(fmt::format("{} wrote no trace{}", given.what[0], how));
  }
  if (run.status != 0) fmt::print(stderr, "heddle dag: {} ended with status {}\n", given.what[0], run.status);
  return trace::load(file);
}

// Turns several serial runs into a typical one. If the runs differ, returns the one with the shortest span.
trace::recording run_often(const dag_arguments& given) {
  std::vector<trace::recording> runs;
  for (unsigned i = 0; i < given.runs; ++i) runs.push_back(run_traced(given));
  if (runs.size() == 1 || trace::take_typical(runs)) return std::move(runs.front());
  fmt::print(stderr,
             "heddle dag: the runs did not fork alike, or on more than one worker; what follows is of the one with the "
             "shortest span\n");
  const auto span = [&](const trace::recording& r) { return trace::analyse(r, given.options).span_ns; };
  return std::move(
      *std::min_element(runs.begin(), runs.end(), [&](const auto& a, const auto& b) { return span(a) < span(b); }));
}

// A file that is there and no program is likely to be a trace of another format.
void refuse_other_files(const std::string& name) {
  if (!std::filesystem::is_regular_file(name) || access(name.c_str(), X_OK) == 0) return;
  throw usage_error(
      fmt::format("{} is neither a program nor a trace of the kind that is read here: record one with "
                  "HEDDLE_TRACE=NAME.heddle HEDDLE_TRACE_FORKS=on",
                  name));
}

int dag(const dag_arguments& given, bool runs_program) {
  if (given.what.empty())
    throw usage_error(
        "TRACE is missing: name a file recorded with HEDDLE_TRACE_FORKS=on, or a program: heddle dag -- ./app");
  if (!runs_program && given.what.size() > 1) {
    throw usage_error(
        fmt::format("'{}' is one too many: one trace, or -- before a program and its arguments", given.what[1]));
  }
  if (runs_program) refuse_other_files(given.what[0]);
  trace::recording recorded;
  try {
    recorded = runs_program ? run_often(given) : trace::load(given.what[0]);
  } catch (const trace::trace_error& e) {
    throw usage_error(e.what());
  }
  const trace::dag_summary found = trace::analyse(recorded, given.options);
  const std::string text = given.json ? trace::dag_json(recorded, found) : trace::dag_text(recorded, found);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw std::runtime_error("dag: cannot write to standard output");
  }
  return 0;
}

// A trace has the ending of traces; any other name is a program.
bool is_program(const std::vector<std::string>& what) { return !what.empty() && !what[0].ends_with(".heddle"); }

std::function<int()> add_dag(CLI::App& app) {
  auto given = std::make_shared<dag_arguments>();
  app.add_option("TRACE", given->what,
                 "A trace (NAME.heddle); or, after --, a program and its arguments, to be run and traced");
  app.add_flag("--json", given->json, "Write JSON instead of a table");
  app.add_option("--workers", given->workers, "Workers of the program that is run; 1: its serial execution")
      ->capture_default_str()
      ->check(integer(1, most_workers));
  app.add_option("--runs", given->runs,
                 "Runs of the program; of the times of each stretch between two forks the median counts, which other "
                 "load on the machine hardly spoils")
      ->capture_default_str()
      ->check(integer(1, 1000));
  app.add_option("--burden", given->options.burden_ns,
                 "Nanoseconds that each fork on the path costs when its halves run on two workers")
      ->capture_default_str()
      ->check(number(0, 1e12));
  app.add_option("--event-cost", given->options.event_ns,
                 "Nanoseconds of tracing to subtract for each event; negative: as recorded")
      ->capture_default_str()
      ->check(number(-1e12, 1e12));
  app.footer("Examples: heddle dag run.heddle; heddle dag -- ./app --size 1000");
  return [given] { return dag(*given, is_program(given->what)); };
}

const registration dag_entry{
    command{"dag", "show work, span, parallelism and grain of a program, from its trace or a run of it", add_dag}};

}  // namespace
}  // namespace heddle::cli

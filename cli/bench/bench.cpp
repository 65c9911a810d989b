// heddle bench: runs kernels of bench/ on heddle and its rivals, round by round, and compares.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/replace_file.hpp"
#include "bench/driver/collect.hpp"
#include "bench/driver/measures.hpp"
#include "bench/driver/plan.hpp"
#include "bench/driver/programs.hpp"
#include "bench/driver/statistics.hpp"
#include "bench/driver/table.hpp"
#include "cli/bench/preempt.hpp"
#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/here.hpp"
#include "cli/progress.hpp"
#include "policy/registry.hpp"

namespace heddle::cli {
namespace {

using namespace heddle::bench;

constexpr std::chrono::seconds kernel_limit(600);
constexpr std::uint64_t most_size = 1'000'000'000;  // its square, in doubles, is still a number of bytes

nlohmann::json header(const std::map<std::string, program>& programs) {
  nlohmann::json h = measured_here();
  nlohmann::json runtimes;
  for (const auto& [name, p] : programs) runtimes[name] = {{"compiler", p.compiler}, {"flags", p.flags}};
  h["runtimes"] = runtimes;
  return h;
}

bool simulated() { return std::getenv("HEDDLE_SIM_MACHINE") != nullptr; }

// Returns true in the simulator's fast mode, in which kernels leave their arithmetic out.
bool simulated_without_results() {
  const char* const fast = std::getenv("HEDDLE_SIM_FAST");
  return simulated() && fast != nullptr && *fast == '1';
}

// The rows of one kernel. Failures and wrong results are reported on standard error and counted.
class kernel_run {
 public:
  kernel_run(const request& r, std::vector<job> jobs) : request_(r), jobs_(std::move(jobs)), results_(jobs_.size()) {}

  // Each round starts with another job, so that no job always follows the same one.
  void round(std::size_t index, progress& shown, std::size_t& faults) {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const std::size_t which = (i + index) % jobs_.size();
      const job& j = jobs_[which];
      if (j.reference && index != 0) continue;
      shown.advance(1, j.kernel + " " + j.executable->runtime + " " + std::to_string(j.workers));
      execute(j, results_[which], shown, faults);
    }
  }

  std::vector<row> rows(std::size_t& faults) const {
    collected all = collect(jobs_, results_);
    if (simulated_without_results()) {
      for (row& r : all.rows) r.checked = true;
      all.wrong.clear();
    }
    for (const auto& line : all.wrong) std::cerr << "heddle bench: " << line << "\n";
    faults += all.wrong.size();
    return std::move(all.rows);
  }

 private:
  void execute(const job& j, std::vector<metric_line>& into, progress& shown, std::size_t& faults) {
    const process::ended done = run_program(j.executable->path, j.arguments(request_), kernel_limit);
    std::string failure = done.late ? "killed after " + std::to_string(kernel_limit.count()) + " s"
                                    : "exit status " + std::to_string(done.status);
    if ((done.status == 0 || done.status == refused) && !done.late) {
      try {
        // A rival may lack a feature of heddle; then it has no row.
        if (done.status == refused && j.executable->runtime == "heddle") {
          shown.clear();
          throw usage_error(parse_refusal(done.output));
        }
        for (auto& m : parse_metrics(done.output)) into.push_back(std::move(m));
        return;
      } catch (const nlohmann::json::exception& e) {
        failure = std::string("unreadable output: ") + e.what();
      }
    }
    ++faults;
    shown.clear();
    std::cerr << "heddle bench: " << j.kernel << " on " << j.executable->runtime << ", " << j.workers
              << " workers: " << failure << "\n";
  }

  const request& request_;
  std::vector<job> jobs_;
  std::vector<std::vector<metric_line>> results_;
};

int list(const std::map<std::string, program>& programs) {
  std::cout << "kernel          runtimes (default n)\n";
  for (const auto& kernel : kernel_names(programs)) {
    std::string line = kernel + std::string(16 - std::min<std::size_t>(15, kernel.size()), ' ');
    for (const auto& [runtime, p] : programs) {
      const auto k = p.kernels.find(kernel);
      if (k != p.kernels.end()) line += runtime + (k->second.n != 0 ? "(" + std::to_string(k->second.n) + ") " : " ");
    }
    line.pop_back();
    std::cout << line << "\n";
  }
  for (const auto& name : preempt_kernels())
    std::cout << name << std::string(17 - name.size(), ' ') << "of preemption, with rivals of its own\n";
  return 0;
}

// Shows the rows of earlier runs, from the files that --json wrote.
int show(const std::vector<std::string>& files) {
  std::vector<row> rows;
  std::string preemption;
  for (const auto& name : files) {
    std::ifstream file(name);
    if (!file) throw std::runtime_error(name + ": cannot be read");
    try {
      const auto report = nlohmann::json::parse(file);
      for (const auto& j : report.at("rows")) rows.push_back(from_json(j));
      if (!report.contains("preemption")) continue;
      for (const auto& [kernel, measured] : report.at("preemption").items())
        preemption += preempt_table(kernel, measured) + "\n";
    } catch (const nlohmann::json::exception&) {
      throw std::runtime_error(name + ": not written by heddle bench --json, or cut short");
    }
  }
  std::cout << preemption;
  if (!rows.empty() || preemption.empty()) std::cout << table(rows) << "\n" << measures_table(rows);
  return std::all_of(rows.begin(), rows.end(), [](const row& r) { return r.checked; }) ? 0 : 1;
}

void check_policies(const std::vector<std::string>& policies) {
  std::vector<std::string> names;
  for (const auto& p : policy::all()) names.emplace_back(p.name);
  for (const std::string& text : policies) {
    const std::string name = text.substr(0, text.find(':'));
    if (std::find(names.begin(), names.end(), name) == names.end()) throw usage_error::unknown("--policy", name, names);
    try {
      policy::make(text);
    } catch (const std::invalid_argument& e) {
      throw usage_error("--policy '" + text + "': " + e.what());
    }
  }
}

// Adapts to `heddle sim`: only heddle's programs are simulated, serial gives the results that theirs are checked
// against, and a second round would repeat the first.
void adapt_to_simulator(request& r, std::map<std::string, program>& programs) {
  if (!simulated()) return;
  std::erase_if(programs, [](const auto& entry) {
    return entry.first != "heddle" && (entry.first != "serial" || simulated_without_results());
  });
  r.repeat = 1;
  const char* const workers = std::getenv("HEDDLE_WORKERS");
  if (r.workers.empty() && workers != nullptr) r.workers = {static_cast<unsigned>(std::strtoul(workers, nullptr, 10))};
}

int run(request r, preempt_request preemption, bool listed) {
  auto programs = find_programs(program_folders(), simulated());
  const std::vector<std::string> preempted = take_preempt_kernels(r.kernels);
  if (simulated() && !preempted.empty())
    throw usage_error("KERNEL '" + preempted.front() + "' measures this machine, and is not simulated");
  if (programs.empty() && preempted.empty())
    throw std::runtime_error(
        "no heddle-bench-* programs found; build them with: cmake --build BUILD --target "
        "heddle_bench");
  adapt_to_simulator(r, programs);
  if (listed || (r.kernels.empty() && preempted.empty())) return list(programs);
  try {
    check(r, programs);
  } catch (const unknown_name& e) {
    std::vector<std::string> valid = e.valid;
    if (e.argument == "KERNEL") valid.insert(valid.end(), preempt_kernels().begin(), preempt_kernels().end());
    throw usage_error::unknown(e.argument, e.given, valid);
  }
  r.policies = rejoined_policies(r.policies);
  check_policies(r.policies);
  if (r.workers.empty()) r.workers = {allowed_processors()};

  nlohmann::json report{{"header", header(programs)}, {"rows", nlohmann::json::array()}};
  preemption.workers = r.workers.front();
  std::vector<kernel_run> runs;
  std::size_t steps = preempted.size();
  for (const auto& kernel : r.kernels) {
    auto jobs = plan(kernel, r, programs);
    if (simulated()) {  // its time would be this machine's
      for (auto& j : jobs) j.reference = j.reference || j.executable->runtime == "serial";
    }
    for (const auto& j : jobs) steps += j.reference ? 1 : r.repeat;
    runs.emplace_back(r, std::move(jobs));
  }
  std::size_t faults = 0;
  {
    progress shown("heddle bench", steps);
    for (auto& k : runs) {
      for (std::size_t i = 0; i < r.repeat; ++i) k.round(i, shown, faults);
    }
    for (const auto& kernel : preempted) {
      shown.advance(1, kernel);
      report["preemption"][kernel] = run_preempt_kernel(kernel, preemption);
    }
  }
  std::vector<row> rows;
  for (const auto& k : runs) {
    const auto some = k.rows(faults);
    rows.insert(rows.end(), some.begin(), some.end());
  }
  if (!r.kernels.empty()) std::cout << table(rows);
  for (const auto& kernel : preempted) std::cout << preempt_table(kernel, report["preemption"][kernel]);
  if (!r.json.empty()) {
    for (const auto& x : rows) report["rows"].push_back(to_json(x));
    report["header"]["load_after"] = load_average();
    base::replace_file(r.json, report.dump(1) + "\n");
  }
  return faults == 0 ? 0 : 1;
}

std::function<int()> add_bench(CLI::App& app) {
  auto r = std::make_shared<request>();
  auto preemption = std::make_shared<preempt_request>();
  auto listed = std::make_shared<bool>(false);
  auto files = std::make_shared<std::vector<std::string>>();
  app.add_option("KERNEL", r->kernels, "Kernels to run; none: lists them");
  app.add_option("--rivals", r->rivals, "all, none, or names of runtimes; serial and heddle always run")
      ->delimiter(',');
  app.add_option("--workers", r->workers, "Numbers of workers; default: as many as processors")
      ->delimiter(',')
      ->check(integer(1, most_workers));
  app.add_option("--policy", r->policies, "Policies of heddle to compare")->delimiter(',');
  const CLI::Option* const repeat = app.add_option("--repeat", r->repeat,
                                                   "Rounds; each runs every runtime once, in a process of its own. Of "
                                                   "preemption: how often each figure is taken")
                                        ->capture_default_str()
                                        ->check(integer(1, 1'000'000));
  app.add_option("--samples", r->samples, "Samples a process, after one to warm up")
      ->capture_default_str()
      ->check(integer(1, 1'000'000));
  app.add_option("--n", r->n, "Size of the problem; default: each runtime's own")->check(integer(1, most_size));
  app.add_option("--iterations", r->iterations, "Iterations, of kernels that have them")
      ->check(integer(1, 1'000'000'000'000));
  app.add_option("--columns", r->columns, "Width of grids, meshes and images that have n rows; side of planes in space")
      ->check(integer(1, 1 << 24));
  app.add_option("--leaf", r->leaf, "Of grids that are cut by rows: rows of a leaf")->check(integer(1, most_size));
  app.add_option("--input", r->input,
                 "A file to read: spmv, a Matrix Market file; convolve, PGM or PPM; isosurface, VTK")
      ->check(CLI::ExistingFile);
  app.add_option("--level", r->level, "Value on the surface, of isosurface")->check(CLI::Number);
  app.add_option("--variant", r->variant, "Only this metric, of kernels that measure several");
  app.add_option("--touch", r->touch,
                 "Where pages lie: with the worker that first touches them (first), over all nodes in "
                 "turn (interleave), or all with one worker (serial); default: the kernel's own")
      ->check(CLI::IsMember({"first", "interleave", "serial"}));
  app.add_option("--alpha", r->alpha, "By how many per cent hints are wrong, in heat2d: P, or random:P")
      ->check([](const std::string& text) {
        const std::string digits = text.starts_with("random:") ? text.substr(7) : text;
        const bool valid = !digits.empty() && digits.size() <= 3 &&
                           digits.find_first_not_of("0123456789") == std::string::npos && std::stoi(digits) <= 100;
        return valid ? std::string() : "'" + text + "' is not P or random:P, P from 0 to 100";
      });
  app.add_option(
         "--shrink", r->shrink,
         "Divides the cutoffs of heat2d, rrm, bufsort, kdtree and cart: for a model whose caches are divided by that")
      ->check(integer(1, 1024));
  app.add_option("--leaf-rate", r->leaf_rate,
                 "Multiply-adds a cycle that matmul's leaf tells the simulator; default: as measured for its loop")
      ->check(integer(1, 64));
  app.add_option("--interval", preemption->interval,
                 "Of preemption: as HEDDLE_PREEMPT_INTERVAL; default: the measurement's own")
      ->check(check_preempt_interval);
  app.add_option("--timer", preemption->timer, "Of preemption: as HEDDLE_PREEMPT_TIMER")->check(check_preempt_timer);
  app.add_option("--json", r->json, "File to write the rows to")->check(output_file());
  app.add_flag("--list", *listed, "Lists the kernels, and the runtimes that have them");
  app.add_option("--from", *files, "Runs nothing: the table of files written with --json, and the project's measures")
      ->delimiter(',');
  return [r, preemption, repeat, listed, files] {
    if (repeat->count() != 0) preemption->repeats = r->repeat;
    return files->empty() ? run(*r, *preemption, *listed) : show(*files);
  };
}

const registration bench_entry{command{"bench", "run the benchmarks, side by side with rival runtimes", add_bench}};

}  // namespace
}  // namespace heddle::cli

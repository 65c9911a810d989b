// heddle-blas ROUTINE[,ROUTINE...] [--option value]...: parallel BLAS and LAPACK routines inside parallel regions, or
// inside tasks, on the OpenMP runtime that is asked for. README.md says what it measures. Rows of JSON as `heddle
// bench` writes them.
#include <dlfcn.h>
#include <link.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/blas/library.hpp"
#include "bench/blas/routines.hpp"
#include "process/beside.hpp"

namespace {

using namespace heddle::bench_blas;

struct settings {
  std::vector<std::string> routines;
  int outer = 4;     // threads of the region
  int inner = 4;     // that a routine may use
  int problems = 0;  // in a round; 0 means one for each outer thread
  int n = 500;       // rows of a matrix, or of a tile
  int tiles = 4;     // cholesky: rows of tiles
  bool tasks = false;
  unsigned repeats = 5;
  unsigned limit = 0;  // seconds after which the program is killed; 0 means never
  std::string blas;
  std::string layer;    // of MKL: intel or gnu; empty means its own choice
  std::string openmp;   // the library that replaces the program's own; empty means none
  std::string preempt;  // of heddle's threads: on, off, auto, or the length of a time slice
  std::string workers, policy = "random_ws", json;
};

using samples = std::map<std::string, std::vector<double>>;

constexpr double right = 1e-10;  // times n: far from rounding, and far below anything wrong

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void define(CLI::App& app, settings& s) {
  std::vector<std::string> known = routine_names();
  known.push_back("cholesky");
  app.add_option("routines", s.routines, "what is computed, with commas between")
      ->required()
      ->delimiter(',')
      ->check(CLI::IsMember(known));
  app.add_option("--outer", s.outer, "threads of the region")->check(CLI::Range(1, 4096));
  app.add_option("--inner", s.inner, "threads that a routine may use")->check(CLI::Range(1, 4096));
  app.add_option("--problems", s.problems, "in a round; as many as outer threads if not given")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--n", s.n, "rows of a matrix, or of a tile")->check(CLI::Range(1, 100'000));
  app.add_option("--tiles", s.tiles, "cholesky: rows of tiles")->check(CLI::Range(1, 1000));
  app.add_option("--tasks", s.tasks, "whether each problem is a task")->type_name("0|1");
  app.add_option("--repeat", s.repeats, "rounds that are measured")->check(CLI::Range(1, 1'000'000));
  app.add_option("--limit", s.limit, "seconds after which the program is killed")->check(CLI::Range(1, 1'000'000));
  app.add_option("--blas", s.blas, "the library with the routines");
  app.add_option("--layer", s.layer, "MKL's layer for threads")->check(CLI::IsMember({"intel", "gnu"}));
  app.add_option("--openmp", s.openmp, "heddle, intel, or an OpenMP library's file");
  app.add_option("--preempt", s.preempt, "heddle's: on, off, auto, or how long a turn lasts");
  app.add_option("--workers", s.workers, "heddle's")->check(CLI::Range(1, 4096));
  app.add_option("--policy", s.policy, "a name for the rows");
  app.add_option("--json", s.json, "the file for the rows");
}

std::string file_of_heddle() {
  const std::filesystem::path here = std::filesystem::path(heddle::process::own_program()).parent_path();
  for (const char* folder : {"../../openmp", "../../lib/heddle/openmp", "../../" HEDDLE_LIBDIR "/heddle/openmp"}) {
    if (const auto file = here / folder / "libheddle_omp.so"; ::access(file.c_str(), R_OK) == 0)
      return std::filesystem::canonical(file).string();
  }
  throw std::runtime_error("libheddle_omp.so is not there: build or install the target openmp");
}

// Returns Intel's runtime beside the BLAS library, or the one that the dynamic linker finds, or LLVM's, from which it
// comes.
std::string file_of_intel(const settings& s) {
  const char* const variable = std::getenv("HEDDLE_BLAS");
  const std::string blas = !s.blas.empty() ? s.blas : variable != nullptr ? variable : "";
  const std::string beside = (std::filesystem::path(blas).parent_path() / "libiomp5.so").string();
  for (const std::string& name : {beside, std::string("libiomp5.so"), std::string("libomp.so.5")}) {
    void* const opened = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    link_map* map = nullptr;
    if (opened != nullptr && dlinfo(opened, RTLD_DI_LINKMAP, &map) == 0) return map->l_name;
  }
  throw std::runtime_error("neither libiomp5.so nor libomp.so.5 is there");
}

// Starts the program once more, with another OpenMP library under it.
void begin_anew_on(const settings& s, char** argv) {
  constexpr const char* done = "HEDDLE_BLAS_RUNS_ON";
  if (s.openmp.empty() || std::getenv(done) != nullptr) return;
  const std::string file = s.openmp == "heddle" ? file_of_heddle() : s.openmp == "intel" ? file_of_intel(s) : s.openmp;
  ::setenv(done, file.c_str(), 1);
  ::setenv("LD_PRELOAD", file.c_str(), 1);
  const bool is_word = s.preempt == "on" || s.preempt == "off" || s.preempt == "auto";
  if (!s.preempt.empty()) ::setenv(is_word ? "HEDDLE_OMP_PREEMPT" : "HEDDLE_PREEMPT_INTERVAL", s.preempt.c_str(), 1);
  if (!s.workers.empty()) ::setenv("HEDDLE_WORKERS", s.workers.c_str(), 1);
  ::execv(heddle::process::own_program().c_str(), argv);
  throw std::runtime_error(std::string("cannot begin anew: ") + std::strerror(errno));
}

// Computes all problems of a round, each by the threads that it may use, as many at once as there are outer threads.
void compute_all(const settings& s, const library& lapack, std::vector<std::unique_ptr<problem>>& all) {
  const int count = static_cast<int>(all.size());
#pragma omp parallel num_threads(s.outer)
  if (s.tasks) {
#pragma omp single
    for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i) shared(s, lapack, all)
      {
        lapack.set_threads_here(s.inner);
        all[i]->compute();
      }
    }
  } else {
    lapack.set_threads_here(s.inner);
#pragma omp for schedule(static, 1)
    for (int i = 0; i < count; ++i) all[i]->compute();
  }
}

// Returns false if a result is wrong, after printing a message.
bool is_right(const std::string& routine, unsigned round, double error, int n) {
  if (error <= right * n) return true;
  std::fprintf(stderr, "heddle-blas: %s, round %u: the result is wrong by %g\n", routine.c_str(), round, error);
  return false;
}

samples run(const settings& s, const library& lapack, const std::string& routine, bool& all_right) {
  samples got;
  if (routine == "cholesky") {
    tiled_cholesky matrix(lapack, s.tiles, s.n);
    for (unsigned round = 0; round <= s.repeats; ++round) {
      matrix.restore();
      const double begin = seconds();
#pragma omp parallel num_threads(s.outer)
#pragma omp single
      matrix.compute(s.inner);
      const double took = seconds() - begin;
      all_right &= is_right(routine, round, matrix.error(), s.n * s.tiles);
      if (round == 0) continue;  // the first makes the threads
      got["time"].push_back(took);
      got["rate"].push_back(matrix.operations() / took / 1e9);
    }
    return got;
  }
  std::vector<std::unique_ptr<problem>> all;
  for (int i = 0; i < s.problems; ++i) all.push_back(make_problem(routine, lapack, s.n, static_cast<unsigned>(i) + 1));
  for (unsigned round = 0; round <= s.repeats; ++round) {
    for (const auto& one : all) one->restore();
    const double begin = seconds();
    compute_all(s, lapack, all);
    const double took = seconds() - begin;
    for (const auto& one : all) all_right &= is_right(routine, round, one->error(), s.n);
    if (round > 0) got["time"].push_back(took);
  }
  return got;
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Parallel routines of BLAS and LAPACK inside parallel regions or tasks");
  settings s;
  define(app, s);
  CLI11_PARSE(app, argc, argv);
  if (s.problems == 0) s.problems = s.outer;
  bool all_right = true;
  auto rows = nlohmann::json::array();
  try {
    begin_anew_on(s, argv);
    ::alarm(s.limit);  // threads that spin for each other would never end
    omp_set_max_active_levels(2);
    omp_set_dynamic(0);
    const library lapack = open_library(s.blas, s.layer);
    for (const std::string& routine : s.routines) {
      bool checked = true;
      const samples got = run(s, lapack, routine, checked);
      all_right &= checked;
      for (const auto& [metric, values] : got) {
        const char* const unit = metric == "rate" ? "Gflop/s" : "s";
        rows.push_back({{"runtime", "heddle"},
                        {"policy", s.policy},
                        {"kernel", routine},
                        {"metric", metric},
                        {"unit", unit},
                        {"checked", checked},
                        {"median", median(values)},
                        {"least", *std::min_element(values.begin(), values.end())}});
        std::printf("%-9s %dx%d %-5s %.6g %s%s\n", routine.c_str(), s.outer, s.inner, metric.c_str(), median(values),
                    unit, checked ? "" : ", wrong");
      }
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heddle-blas: %s\n", e.what());
    return 3;
  }
  if (!s.json.empty()) std::ofstream(s.json) << nlohmann::json{{"measurement", "blas"}, {"rows", rows}}.dump(1) << "\n";
  return all_right ? 0 : 1;
}

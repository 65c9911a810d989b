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
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/blas/library.hpp"
#include "bench/blas/routines.hpp"
#include "process/beside.hpp"

namespace {

using namespace heddle::bench_blas;

struct settings {
  std::vector<std::string> routines;
  int outer = 4;     // threads of the region
  int inner = 4;     // that a routine may use
  int problems = 0;  // in a round; 0: one an outer thread
  int n = 500;       // rows of a matrix, or of a tile
  int tiles = 4;     // cholesky: rows of tiles
  bool tasks = false;
  unsigned repeats = 5;
  unsigned limit = 0;  // seconds after which the program is killed; 0: none
  std::string blas;
  std::string layer;    // of MKL: intel, gnu; empty: its own choice
  std::string openmp;   // library in whose place the program's own stands; empty: none
  std::string preempt;  // of heddle's: on, off, auto, or how long a turn lasts
  std::string workers, policy = "random_ws", json;
};

using samples = std::map<std::string, std::vector<double>>;

constexpr double right = 1e-10;  // times n: far from rounding, and far below anything wrong

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

[[noreturn]] void usage(const std::string& why) {
  std::fprintf(
      stderr,
      "heddle-blas: %s\nusage: heddle-blas gemm|potrf|getrf|geqrf|syevd|cholesky[,...] [--outer N] [--inner N] "
      "[--problems N] [--n N] [--tiles N] [--tasks 0|1] [--repeat N] [--limit SECONDS] [--blas FILE] "
      "[--layer intel|gnu] [--openmp heddle|intel|FILE] [--preempt on|off|auto|TIME] [--workers N] [--json FILE]\n",
      why.c_str());
  std::exit(2);
}

settings settings_from(int argc, char** argv) {
  settings s;
  if (argc < 2) usage("what is to be computed?");
  std::istringstream list(argv[1]);
  for (std::string name; std::getline(list, name, ',');) {
    const std::vector<std::string> known = routine_names();
    if (name != "cholesky" && std::find(known.begin(), known.end(), name) == known.end()) usage("no routine " + name);
    s.routines.push_back(name);
  }
  const auto whole = [](const char* text) { return std::max(1, std::atoi(text)); };
  for (int i = 2; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) usage(option + " has no value");
    const char* value = argv[i + 1];
    if (option == "--outer") s.outer = whole(value);
    else if (option == "--inner") s.inner = whole(value);
    else if (option == "--problems") s.problems = whole(value);
    else if (option == "--n") s.n = whole(value);
    else if (option == "--tiles") s.tiles = whole(value);
    else if (option == "--tasks") s.tasks = std::atoi(value) != 0;
    else if (option == "--repeat") s.repeats = static_cast<unsigned>(whole(value));
    else if (option == "--limit") s.limit = static_cast<unsigned>(whole(value));
    else if (option == "--blas") s.blas = value;
    else if (option == "--layer") s.layer = value;
    else if (option == "--openmp") s.openmp = value;
    else if (option == "--preempt") s.preempt = value;
    else if (option == "--workers") s.workers = value;
    else if (option == "--policy") s.policy = value;
    else if (option == "--json") s.json = value;
    else if (option != "--rivals") usage("no option " + option);
  }
  if (!s.layer.empty() && s.layer != "intel" && s.layer != "gnu") usage("no layer " + s.layer);
  if (s.problems == 0) s.problems = s.outer;
  return s;
}

std::string file_of_heddle() {
  const std::filesystem::path here = std::filesystem::path(heddle::process::own_program()).parent_path();
  for (const char* folder : {"../../openmp", "../../lib/heddle/openmp", "../../" HEDDLE_LIBDIR "/heddle/openmp"}) {
    if (const auto file = here / folder / "libheddle_omp.so"; ::access(file.c_str(), R_OK) == 0)
      return std::filesystem::canonical(file).string();
  }
  throw std::runtime_error("libheddle_omp.so is not there: build or install the target openmp");
}

// Intel's runtime beside the BLAS library, or where the dynamic linker finds it, or LLVM's, from which it comes.
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

// The program once more, with another OpenMP library under it.
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

// All problems of a round, each by the threads that it may use, as many at once as there are outer threads.
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

// False: a result is wrong, which has been said.
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
  const settings s = settings_from(argc, argv);
  bool all_right = true;
  std::string rows;
  try {
    begin_anew_on(s, argv);
    ::alarm(s.limit);  // threads that spin for each other for ever
    omp_set_max_active_levels(2);
    omp_set_dynamic(0);
    const library lapack = open_library(s.blas, s.layer);
    for (const std::string& routine : s.routines) {
      bool checked = true;
      const samples got = run(s, lapack, routine, checked);
      all_right &= checked;
      for (const auto& [metric, values] : got) {
        const char* const unit = metric == "rate" ? "Gflop/s" : "s";
        char row[320];
        std::snprintf(row, sizeof row,
                      "%s\n  {\"runtime\": \"heddle\", \"policy\": \"%s\", \"kernel\": \"%s\", \"metric\": \"%s\", "
                      "\"unit\": \"%s\", \"checked\": %s, \"median\": %.9g, \"least\": %.9g}",
                      rows.empty() ? "" : ",", s.policy.c_str(), routine.c_str(), metric.c_str(), unit,
                      checked ? "true" : "false", median(values), *std::min_element(values.begin(), values.end()));
        rows += row;
        std::printf("%-9s %dx%d %-5s %.6g %s%s\n", routine.c_str(), s.outer, s.inner, metric.c_str(), median(values),
                    unit, checked ? "" : ", wrong");
      }
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heddle-blas: %s\n", e.what());
    return 3;
  }
  if (!s.json.empty()) std::ofstream(s.json) << "{\"measurement\": \"blas\", \"rows\": [" << rows << "\n]}\n";
  return all_right ? 0 : 1;
}

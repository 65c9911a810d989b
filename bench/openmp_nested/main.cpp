// heddle-openmp-nested [--option value]...: a parallel loop inside of a parallel region. README.md says what it
// measures.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include <CLI/CLI.hpp>

namespace {

struct settings {
  int outer = 4;    // threads of the region
  int inner = 4;    // threads of each loop in it
  int loops = 100;  // that each outer thread computes, one after the other
  int n = 60000;    // iterations of the loops of all outer threads together
  int repeats = 3;
};

double term(int i) { return 1.0 / (1.0 + i); }

double loop(int begin, int end, int threads) {
  double sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
  for (int i = begin; i < end; ++i) sum += term(i);
  return sum;
}

// The mean sum of a loop of all outer threads.
double all_loops(const settings& s) {
  double sum = 0;
#pragma omp parallel num_threads(s.outer) reduction(+ : sum)
  {
    const long outer = omp_get_num_threads(), own = omp_get_thread_num();
    const int begin = static_cast<int>(s.n * own / outer), end = static_cast<int>(s.n * (own + 1) / outer);
    for (int i = 0; i < s.loops; ++i) sum += loop(begin, end, s.inner);
  }
  return sum / s.loops;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A parallel loop inside of a parallel region");
  settings s;
  app.add_option("--outer", s.outer, "threads of the region")->check(CLI::Range(1, 4096));
  app.add_option("--inner", s.inner, "threads of each loop in it")->check(CLI::Range(1, 4096));
  app.add_option("--loops", s.loops, "of each outer thread, one after the other")->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--n", s.n, "iterations of a loop of all outer threads")->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--repeat", s.repeats, "rounds that are measured")->check(CLI::Range(1, 1'000'000));
  CLI11_PARSE(app, argc, argv);
  omp_set_max_active_levels(2);
  omp_set_dynamic(0);
  double expected = 0;
  for (int i = 0; i < s.n; ++i) expected += term(i);
  std::vector<double> times;
  for (int round = 0; round <= s.repeats; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const double sum = all_loops(s);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (std::fabs(sum - expected) > 1e-9 * expected) {
      std::fprintf(stderr, "heddle-openmp-nested: %.15g instead of %.15g\n", sum, expected);
      return 1;
    }
    if (round > 0) times.push_back(took);  // in the first one threads are made
  }
  std::sort(times.begin(), times.end());
  std::printf("nested %dx%d time %.6f s sum %.12f\n", s.outer, s.inner, times[times.size() / 2], expected);
  return 0;
}

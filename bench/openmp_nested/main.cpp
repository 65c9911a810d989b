// heddle-openmp-nested [--option value]...: a parallel loop inside of a parallel region. README.md says what it
// measures.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct settings {
  int outer = 4;    // threads of the region
  int inner = 4;    // threads of each loop in it
  int loops = 100;  // that each outer thread computes, one after the other
  int n = 60000;    // iterations of the loops of all outer threads together
  int repeats = 3;
};

settings settings_from(int argc, char** argv) {
  settings s;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    const int value = std::max(1, std::atoi(argv[i + 1]));
    if (option == "--outer") s.outer = value;
    else if (option == "--inner") s.inner = value;
    else if (option == "--loops") s.loops = value;
    else if (option == "--n") s.n = value;
    else if (option == "--repeat") s.repeats = value;
    else std::exit((std::fprintf(stderr, "heddle-openmp-nested: no option %s\n", option.c_str()), 2));
  }
  return s;
}

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
  const settings s = settings_from(argc, argv);
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
